/** `satchel project export` and `import`: a project moves from one Satchel to another. */
import { existsSync } from 'node:fs';
import type { Projects } from '../../access/projects/service.ts';
import { fileWord, readsArchive, STREAM, writesArchive } from '../../platform/cli/archives.ts';
import { type Cli, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { readHiddenSecret } from '../../platform/cli/input.ts';
import { textOption } from '../../platform/cli/options.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { STANDARD_INPUT } from '../../platform/files/archive-source.ts';
import { asCaller } from '../../platform/host/ownership.ts';
import { counted, formatBytes } from '../../platform/words/phrases.ts';
import type { Exported } from './exporting.ts';
import type { Imported, LetGo } from './schemas.ts';
import type { Transfers } from './service.ts';

interface Services {
  projects: Pick<Projects, 'find' | 'require'>;
  transfers: Transfers;
}

/** Adds `export` and `import` to `satchel project`. */
export function registerTransferCommands<S extends Services>(cli: Cli<S>, project: Noun<S>): void {
  registerExport(cli, project);
  registerImport(cli, project);
}

function registerExport<S extends Services>(cli: Cli<S>, project: Noun<S>): void {
  const verb = project.verb(
    'export <project> <file>',
    'write all of a project to one new file, to import it into another Satchel',
  );
  writesArchive(verb, cli)
    .requiredOption('--passphrase <from>', 'what seals its secrets: - (standard input), @file or env:NAME')
    .option('--copy', 'leave it as it is; otherwise it is set inactive, and nothing of it goes on here')
    .option('--with-store', 'bring the bytes along that are in the object store')
    .remark(`The file holds everything but what is the operator's: domains, mailboxes, people, accounts at
providers (which domains it sends from is kept). Secrets are sealed; addresses, mails and files in it are not: keep it as you keep backups.
Without --with-store, the other Satchel must reach the same bucket.
With - for <file> it goes to standard output, and all else that is said to standard error.`)
    .example(
      'satchel project export shop shop.satchel --passphrase @passphrase.txt',
      'satchel project export shop copy.satchel --passphrase - --copy --with-store',
    )
    .does(async ({ services, actor, progress, note }, options, ref, file = '') => {
      const found = services.projects.require(ref);
      const passphrase = await readPassphrase(cli, options);
      cli.host.process.yieldToOthers();
      const exported = await services.transfers.export(found, {
        file: file === STREAM ? cli.host.process.outArchive : file,
        passphrase,
        is_copy: options.copy === true,
        with_store: options.withStore === true,
        actor,
        onProgress: progress('exporting'),
      });
      for (const id of exported.left_out)
        note(
          `satchel: warning: object ${id} is not in the file: it was deleted meanwhile, or its bytes are gone or damaged`,
        );
      return {
        json: exported,
        text: presentExported(exported, { ...found, is_copy: options.copy === true }),
      };
    });
}

function presentExported(exported: Exported, of: { slug: string; is_copy: boolean }): string {
  const { file, size_bytes, rows, objects, object_bytes, stored_objects } = exported;
  const files = `${counted(objects, 'file')} (${formatBytes(object_bytes)})`;
  const lines = [
    `${file}: ${formatBytes(size_bytes)}, ${counted(rows, 'row')}, ${files}.`,
    ...(stored_objects > 0
      ? [`In the object store, and not in it: ${counted(stored_objects, 'file')}.`]
      : []),
    ...(of.is_copy
      ? ['The project goes on here as before.']
      : [
          'The project is inactive here, and nothing of it goes on. To have it go on after all:',
          `  satchel project import --go ${of.slug}`,
        ]),
    `Import it elsewhere with: satchel project import ${fileWord(file)} --passphrase -`,
  ];
  return lines.join('\n');
}

function registerImport<S extends Services>(cli: Cli<S>, project: Noun<S>): void {
  const verb = project.verb(
    'import <file>',
    'take a project in from its file, paused; with --go, have it go on',
  );
  readsArchive(verb, cli)
    .option('--passphrase <from>', 'the one that it was exported with: - (standard input), @file or env:NAME')
    .option('--go', 'let it go on: what was paused to be moved, and mail that waits')
    .remark(`Keys, links and public ids stay the same. Schedules, sequences and broadcasts arrive paused, and mail
that waits is withheld, until --go is said: at once, or later with the project in place of the file.
Where mailboxes are missing that it uses, only the latter does it.
With - for <file> it comes on standard input, and nothing is taken in before all of it is here.`)
    .example(
      'satchel project import shop.satchel --passphrase @passphrase.txt',
      'satchel project import --go shop',
    )
    .does(async ({ services, actor, progress, note }, options, file) => {
      const lets_go = options.go === true;
      if (options.passphrase === undefined) {
        const found = services.projects.find(file);
        if (!lets_go || file === STREAM || (!found && asCaller(() => existsSync(file))))
          throw new UsageError('a project file needs --passphrase; a project that is here, --go alone');
        const went = await services.transfers.letGo(found ?? services.projects.require(file), actor);
        const exit = went.stayed.length > 0 ? EXIT.refused : EXIT.done;
        return { json: went, text: presentGone(went), exit };
      }
      const passphrase = await readPassphrase(cli, options);
      cli.host.process.yieldToOthers();
      const { transfers } = services;
      const take = (of: { file: string; name?: string }) =>
        transfers.import({ ...of, passphrase, actor, onProgress: progress('importing') });
      const imported = await (file === STREAM
        ? transfers.files.withStream(cli.host.process.inputStream(), (path) =>
            take({ file: path, name: STANDARD_INPUT }),
          )
        : take({ file }));
      for (const [what, names] of Object.entries(imported.missing))
        if (names.length > 0) note(`satchel: not here: ${what.replaceAll('_', ' ')} ${names.join(', ')}`);
      const may_go = imported.missing.mailboxes.length === 0;
      const went =
        lets_go && may_go
          ? await services.transfers.letGo(services.projects.require(String(imported.id)), actor)
          : null;
      return { json: { ...imported, went_on: went }, text: presentImported(imported, went) };
    });
}

function presentImported(imported: Imported, went: LetGo | null): string {
  const { id, slug, rows, objects, tokens } = imported;
  const what = [counted(rows, 'row'), counted(objects, 'file'), counted(tokens, 'token')].join(', ');
  const next =
    went === null
      ? `What was paused and withheld waits. Once its domains and mailboxes are here, let it go with:\n  satchel project import --go ${slug}`
      : presentGone(went);
  return `Project ${id} (${slug}) is here: ${what}.\n${next}`;
}

function presentGone({ schedules, sequences, broadcasts, jobs, stayed }: LetGo): string {
  const gone = [
    counted(schedules, 'schedule'),
    counted(sequences, 'sequence'),
    counted(broadcasts, 'broadcast'),
    `${counted(jobs, 'job')} that waited`,
  ];
  const lines = stayed.map(({ kind, id, reason }) => `The ${kind} ${id} stays paused: ${reason}`);
  return [`It goes on: ${gone.join(', ')}.`, ...lines].join('\n');
}

function readPassphrase<S>(cli: Cli<S>, options: Readonly<Record<string, unknown>>): Promise<string> {
  return readHiddenSecret(cli, textOption(options, 'passphrase') ?? '', '--passphrase');
}
