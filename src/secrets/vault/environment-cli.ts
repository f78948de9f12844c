/** `satchel environment`, how verbs of the vault find the one that is meant, and `vault diff`. */
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { type Options, textOption } from '../../platform/cli/options.ts';
import { formatTable } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { parse } from '../../platform/http/schema.ts';
import { counted } from '../../platform/words/phrases.ts';
import { type EnvironmentRecord, newEnvironment, type RemovedService } from './schemas.ts';
import type { Vault } from './service.ts';
import type { VaultVersions } from './versions.ts';

/** What the verbs of the vault stand on. */
export interface Services {
  vault: Vault;
  vault_versions: VaultVersions;
  projects: Projects;
}

/** A verb about a project's vault in the environment that `--environment` names. */
export function vaultVerb(noun: Noun<Services>, signature: string, says: string) {
  return noun
    .verb(signature, says)
    .ofProject()
    .option('--environment <environment>', 'of the vault; production unless it is named');
}

/** Whose vault is meant, in which environment. Throws AppError `not_found`. */
export function vaultOf(
  { services, project }: { services: Services; project: ProjectRow },
  options: Options,
): ProjectRow & { environment: string } {
  return services.vault.environments.at(project, textOption(options, 'environment'), null);
}

export function countedOf({ vault_credentials, vault_files }: RemovedService['cascade']): string {
  return `${counted(vault_credentials, 'value')} and ${counted(vault_files, 'file')}`;
}

/** Registers `satchel environment add | list | change | remove`. */
export function registerEnvironmentCommands(cli: Cli<Services>): void {
  const noun = cli.noun('environment');
  const at = (services: Services, project: ProjectRow, name: string) =>
    services.vault.environments.at(project, name, null);
  noun
    .verb('add <name>', 'add an environment to the vault of a project, beside production')
    .ofProject()
    .option('--inherits', "what it lacks is production's, field by field")
    .example(
      'satchel environment add staging --project shop',
      'satchel environment add preview --project shop --inherits',
    )
    .remark('It begins empty. Without --inherits it has only what is stored in it.')
    .shows(({ services, project, actor }, { inherits = false }, name) =>
      services.vault.environments.add(actor, project, parse(newEnvironment, { name, inherits })),
    );
  noun
    .verb('list', 'the environments of a vault, production first')
    .ofProject()
    .example('satchel environment list --project shop')
    .lists(
      ({ services, project, page }) => paginateAll(page, services.vault.environments.list(project, null)),
      rowOf,
      '',
    );
  noun
    .verb('change <name>', "have an environment inherit production's values, or not")
    .ofProject()
    .option('--inherits', "what it lacks is production's, field by field")
    .option('--no-inherits', 'it has only what is stored in it')
    .example('satchel environment change staging --project shop --no-inherits')
    .shows(({ services, project, actor }, { inherits }, name) => {
      if (typeof inherits !== 'boolean') throw new UsageError('Say --inherits or --no-inherits.');
      return services.vault.environments.change(actor, at(services, project, name), { inherits });
    });
  noun
    .verb('remove <name>', 'remove an environment with its values')
    .ofProject()
    .example('satchel environment remove preview --project shop --yes')
    .removes(async ({ services, project, consent, actor }, _options, name) => {
      const { environments } = services.vault;
      const found = at(services, project, name);
      const stored = countedOf(environments.count(found));
      consent(`removes the environment ${name} of ${project.slug} with ${stored}, and what they were before`);
      const removed = await environments.remove(actor, found);
      return { json: removed, text: `Removed ${name}, with ${countedOf(removed.cascade)}.` };
    });
}

function rowOf({ name, inherits, updated_at }: EnvironmentRecord) {
  return { name, 'what it lacks': inherits ? "is production's" : '', changed: updated_at };
}

export function registerDiff(noun: Noun<Services>): void {
  noun
    .verb('diff <from> <to>', 'which fields of two environments differ, never a value')
    .ofProject()
    .example('satchel vault diff staging production --project shop')
    .does(({ services, project }, _options, from, to) => {
      const { vault } = services;
      const [a, b] = [from, to].map((name) => vault.environments.at(project, name, null));
      const diff = vault.diff(a ?? project, b ?? project);
      const rows = [
        ...diff.only_in_from.map((one) => ({ ...one, is: `only in ${from}` })),
        ...diff.only_in_to.map((one) => ({ ...one, is: `only in ${to}` })),
        ...diff.differ.map((one) => ({ ...one, is: 'differs' })),
      ];
      return { json: diff, text: formatTable(rows, `${from} and ${to} have the same values.`) };
    });
}
