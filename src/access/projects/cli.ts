/** `satchel project`: making, listing, showing and deleting projects. */
import { Option } from 'commander';
import { conflict } from '../../errors.ts';
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import {
  listOption,
  type Options,
  requireChanges,
  textOption,
  textOptions,
} from '../../platform/cli/options.ts';
import { counted } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { parse, t } from '../../platform/http/schema.ts';
import type { LinkDomains } from './link-domains.ts';
import type { ProjectChanges } from './schemas.ts';
import { createProjectBody, projectStatus, updateProjectBody } from './schemas.ts';
import type { ProjectRecord, Projects } from './service.ts';

interface Services {
  projects: Projects;
  link_domains: LinkDomains;
  /** The default first; those alone that a project may send from, where one is given. */
  sending_domains: { listNames(of?: { project_id: number }): string[] };
  templates: { list(project_id: number): readonly unknown[] };
}

const SENDING_DOMAIN = [
  '--sending-domain <name>',
  'what its mail goes out from that names no domain; empty: the default domain, else its first',
] as const;
const SENDING_DOMAINS = [
  '--sending-domains <names>',
  'the only sending domains that its mail may go out from, others may too; all: any',
] as const;
const OPTION_OF_FIELD = {
  link_domain: '--link-domain',
  sending_domain: '--sending-domain',
  sending_domains: '--sending-domains',
};

function sendingOf(options: Options): Pick<ProjectChanges, 'sending_domain' | 'sending_domains'> {
  const sending_domain = textOption(options, 'sendingDomain');
  const sending_domains = textOption(options, 'sendingDomains');
  return {
    ...(sending_domain === undefined ? {} : { sending_domain: sending_domain || null }),
    ...(sending_domains === undefined
      ? {}
      : { sending_domains: sending_domains === 'all' ? null : listOption(options, 'sendingDomains') }),
  };
}

/** Registers `satchel project create | list | show | change | delete`, to which others add. */
export function registerProjectCommands<S extends Services>(cli: Cli<S>): Noun<S> {
  const project = cli.noun('project', 'what keys, files, mail and secrets belong to');
  registerCreate(project);
  project
    .verb('list', 'all projects, newest first')
    .example('satchel project list')
    .option('--search <text>', 'only those with this in the name or slug')
    .addOption(new Option('--status <status>', 'only these').choices(['active', 'inactive']))
    .lists(
      ({ services: { projects }, page }, options) => {
        const shape = t.Object({ q: t.Optional(t.String()), status: t.Optional(projectStatus) });
        const q = textOption(options, 'search');
        const filter = parse(shape, { q, status: textOption(options, 'status') });
        return paginateAll(page, projects.listAll(filter)).map((row) => ({
          ...projects.present(row),
          api_keys_count: projects.countApiKeys(row),
        }));
      },
      ({ id, slug, name, status, api_keys_count, public_id, created_at }) => ({
        id,
        slug,
        name,
        status,
        keys: api_keys_count,
        ulid: public_id,
        created: created_at,
      }),
      (_session, { search, status }) =>
        search === undefined && status === undefined
          ? 'There are no projects. Make one with: satchel project create --name NAME'
          : 'No project matches.',
    );
  project
    .verb('show <project>', 'one project; it is named by numeric id, ULID or slug')
    .example('satchel project show shop')
    .shows(
      ({ services }, _options, ref) => services.projects.presentWithKeys(services.projects.require(ref)),
      ({ platforms, tech_stack, sending_domains, api_keys, ...fields }) => ({
        ...fields,
        sending_domains: sending_domains ?? 'all',
        platforms,
        tech_stack,
        api_keys: api_keys.map((key) => `${key.id} ${key.name} ${key.key_prefix}...`),
      }),
    );
  registerChange(project);
  registerVerifyLinks(project);
  project
    .verb('delete <project>', 'delete a project with everything in it: keys, files, mail, secrets')
    .example('satchel project delete shop --yes')
    .removes(async ({ services, consent, actor }, _options, ref) => {
      const project = services.projects.require(ref);
      const email_templates = services.templates.list(project.id).length;
      const contents = summarize({ ...services.projects.countContents(project), email_templates });
      consent(`deletes the project ${project.name} for good, and with it ${contents}`);
      const deleted = await services.projects.remove(actor, ref);
      const text = `Project ${project.name} is deleted, and with it ${summarize(deleted.cascade)}.`;
      return { json: deleted, text };
    });
  return project;
}

function registerCreate<S extends Services>(noun: Noun<S>): void {
  noun
    .verb('create', 'make a project')
    .requiredOption('--name <name>', 'its name')
    .option('--slug <slug>', 'its name in addresses; made from the name unless given')
    .option('--description <text>', 'what it is')
    .option(...SENDING_DOMAIN)
    .option(...SENDING_DOMAINS)
    .example('satchel project create --name "Corner shop" --slug shop')
    .does(async ({ services, actor, note }, options) => {
      const given = { ...textOptions(options, 'name', 'slug', 'description'), ...sendingOf(options) };
      const created = await inOptions(OPTION_OF_FIELD, () =>
        services.projects.create(actor, parse(createProjectBody, given)),
      );
      const { id, slug } = created;
      const [sender] = services.sending_domains.listNames({ project_id: id });
      if (services.sending_domains.listNames().length > 1)
        note(
          `satchel: ${slug} sends from ${sender}. For another domain: satchel project change ${slug} --sending-domain NAME`,
        );
      return {
        json: { ...services.projects.present(created), api_keys: [] },
        text: `Project ${id} (${slug}) is made. Next: satchel key create --project ${slug} --name NAME --can read,write`,
      };
    });
}

function registerChange<S extends Services>(noun: Noun<S>): void {
  noun
    .verb('change <project>', 'change what is given of a project')
    .option('--name <name>', 'its name')
    .option('--slug <slug>', 'its name in addresses; what uses the old one finds it no more')
    .addOption(
      new Option('--status <status>', 'inactive: its keys answer 401, and nothing of it is sent').choices([
        'active',
        'inactive',
      ]),
    )
    .option('--description <text>', 'what it is; empty to clear it')
    .option('--notes <text>', 'for people; empty to clear it')
    .option('--primary-url <text>', 'where its app is; empty to clear it')
    .option('--repo-url <text>', 'where its code is; empty to clear it')
    .option('--app-identifier <text>', 'such as com.example.app; empty to clear it')
    .option(...SENDING_DOMAIN)
    .option(...SENDING_DOMAINS)
    .option(
      '--link-domain <name>',
      "a host name of its own that leads here, for links in its mails and its public pages; empty: the public URL's",
    )
    .example(
      'satchel project change shop --name "Corner shop" --description "Orders and receipts"',
      'satchel project change shop --status inactive',
      'satchel project change shop --sending-domain shop.example.com --sending-domains shop.example.com',
    )
    .does(async ({ services: { projects, link_domains }, actor }, options, ref) => {
      const orNull = (text: unknown) => (text === '' ? null : text);
      const given = requireChanges({
        name: options.name,
        slug: options.slug,
        status: options.status,
        description: orNull(options.description),
        notes: orNull(options.notes),
        primary_url: orNull(options.primaryUrl),
        repo_url: orNull(options.repoUrl),
        app_identifier: orNull(options.appIdentifier),
        link_domain: orNull(options.linkDomain),
        ...sendingOf(options),
      });
      const changed = await inOptions(OPTION_OF_FIELD, async () => {
        const changes = parse(updateProjectBody, given);
        const row = await projects.update(actor, projects.require(ref), changes);
        const asked = changes.link_domain == null ? row : await link_domains.verify(row.id);
        return projects.present(asked ?? row);
      });
      const { name, slug, status } = changed;
      const what = Object.keys(given).join(', ');
      const standing = given.link_domain == null ? '' : `\n${standingOfLinks(changed)}`;
      return {
        json: changed,
        text: `The project ${name} (${slug}, ${status}) is changed: ${what}.${standing}`,
      };
    });
}

function registerVerifyLinks<S extends Services>(noun: Noun<S>): void {
  noun
    .verb('verify-links <project>', 'ask whether its link domain leads here')
    .example('satchel project verify-links shop')
    .does(async ({ services: { projects, link_domains } }, _options, ref) => {
      const { id, slug, link_domain } = projects.require(ref);
      if (link_domain === null)
        throw conflict(`${slug} has no link domain: satchel project change ${slug} --link-domain NAME`);
      const asked = await link_domains.verify(id);
      const json = projects.present(asked ?? projects.requireById(id));
      return {
        json,
        text: standingOfLinks(json),
        exit: json.link_domain_problem === null ? EXIT.done : EXIT.refused,
      };
    });
}

function standingOfLinks({ link_domain, link_domain_status, link_domain_problem }: ProjectRecord): string {
  if (link_domain_problem === null) return `${link_domain} leads here: links begin with it.`;
  const meanwhile =
    link_domain_status === 'active'
      ? 'Links still begin with it, until the next look fails, too.'
      : 'Until it leads here links begin with the public URL.';
  return `${link_domain} is ${link_domain_status}: ${link_domain_problem}.\n${meanwhile}`;
}

function summarize(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  if (some.length === 0) return 'nothing else';
  return some.map(([name, count]) => counted(count, name.replaceAll('_', ' ').replace(/s$/, ''))).join(', ');
}
