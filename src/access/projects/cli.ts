/** `satchel project`: making, listing, showing and deleting projects. */
import { conflict } from '../../errors.ts';
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { t } from '../../platform/http/schema.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { LinkDomains } from './link-domains.ts';
import { CHANGED_FIELDS, createProjectBody, FIELDS, projectStatus, updateProjectBody } from './schemas.ts';
import type { ProjectRecord, Projects } from './service.ts';

interface Services {
  projects: Projects;
  link_domains: LinkDomains;
  /** The default first; those alone that a project may send from, where one is given. */
  sending_domains: { listNames(of?: { project_id: number }): string[] };
  templates: { list(project_id: number): readonly unknown[] };
}

const listed = t.Object({ q: t.Optional(t.String()), status: t.Optional(projectStatus) });

/** Registers `satchel project create | list | show | change | delete`, to which others add. */
export function registerProjectCommands<S extends Services>(cli: Cli<S>): Noun<S> {
  const project = cli.noun('project');
  registerCreate(project);
  project
    .verb('list', 'all projects, newest first')
    .example('satchel project list')
    .takes(
      fieldsOf(listed, {
        q: ['--search <text>', 'only those with this in the name or slug'],
        status: ['--status <status>', 'only these'],
      }),
      listed,
    )
    .lists(
      ({ services: { projects }, sent, page }) =>
        paginateAll(page, projects.listAll(sent)).map((row) => ({
          ...projects.present(row),
          api_keys_count: projects.countApiKeys(row),
        })),
      (one) => rowOf(one, 'id slug name status keys=api_keys_count ulid=public_id created=created_at'),
      ({ sent }) =>
        Object.keys(sent).length === 0
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
    .takes(FIELDS, createProjectBody)
    .example('satchel project create --name "Corner shop" --slug shop')
    .does(async ({ services, sent, actor, note }) => {
      const created = await services.projects.create(actor, sent);
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
    .verb('change <project>', 'change what is given; an empty text clears what may be empty')
    .changes(CHANGED_FIELDS, updateProjectBody)
    .example(
      'satchel project change shop --name "Corner shop" --description "Orders and receipts"',
      'satchel project change shop --status inactive',
      'satchel project change shop --sending-domain shop.example.com --sending-domains shop.example.com',
    )
    .does(async ({ services: { projects, link_domains }, fields, sent, actor }, _options, ref) => {
      const row = await projects.update(actor, projects.require(ref), sent);
      const asked = sent.link_domain == null ? row : await link_domains.verify(row.id);
      const changed = projects.present(asked ?? row);
      const { name, slug, status } = changed;
      const what = Object.keys(fields).join(', ');
      const standing = sent.link_domain == null ? '' : `\n${standingOfLinks(changed)}`;
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
