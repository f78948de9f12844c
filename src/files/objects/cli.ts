/** `satchel object`: looking at stored files, and deleting one. They are uploaded over HTTP. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { textOptions } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { formatBytes } from '../../platform/cli/tables.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import type { ObjectLinks, Objects } from './service.ts';

type Services = { projects: Projects; objects: Objects; object_links: ObjectLinks };

const filter = t.Object({ visibility: t.Optional(oneOf(['public', 'private'])) });

/** Registers `satchel object list | show | delete | revoke-links`. */
export function registerObjectCommands(cli: Cli<Services>): void {
  const object = cli.noun('object', 'stored files');
  object
    .verb('list', 'the files of a project, newest first')
    .ofProject()
    .addOption(new Option('--visibility <visibility>', 'only these').choices(['public', 'private']))
    .example('satchel object list --project shop --visibility public --limit 20')
    .lists(
      ({ services, page }, options) => {
        const { visibility } = parse(filter, textOptions(options, 'visibility'));
        return services.objects.list(projectOf(services, options).id, { ...page, visibility });
      },
      (one) => ({
        id: one.public_id,
        name: one.original_filename,
        size: formatBytes(one.size_bytes),
        visibility: one.visibility,
        type: one.mime_type,
        created: one.created_at,
      }),
      ({ services }, options) => {
        const { slug } = projectOf(services, options);
        return options.visibility === undefined
          ? `There are no files in ${slug}. They are uploaded with: POST /api/v1/objects`
          : `No file of ${slug} is ${options.visibility}.`;
      },
    );
  object
    .verb('show <id>', 'one file, by its ULID')
    .example('satchel object show 01J8ZQ4T9V6X2N5K3B7C1D0E4F')
    .shows(({ services }, _options, id) => {
      const row = services.objects.requireAny(id);
      return services.objects.describe(row, ownerOf(services, row));
    });
  object
    .verb('delete <id>', 'delete a file: its record and its bytes')
    .example('satchel object delete 01J8ZQ4T9V6X2N5K3B7C1D0E4F --yes')
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const row = services.objects.requireAny(id);
      const project = ownerOf(services, row);
      const what = `1 file of ${formatBytes(row.size_bytes)}, ${JSON.stringify(row.original_filename)} of the project ${project.slug}`;
      consent(`deletes ${what}, for good`);
      await services.objects.remove(project.id, row.public_id, onTrail(project));
      return {
        json: { deleted: true, public_id: row.public_id },
        text: `Deleted: ${what}. Mails that wait keep what is attached to them.`,
      };
    });
  object
    .verb('revoke-links', 'have no link to a file of a project that was made so far open anything')
    .ofProject()
    .example('satchel object revoke-links --project shop')
    .does(async ({ services, onTrail }, options) => {
      const project = projectOf(services, options);
      await services.object_links.revoke(project, onTrail(project));
      return {
        json: { revoked: true, project: project.slug },
        text: `Every link to a file of ${project.slug} that was made so far is revoked. The files stay.`,
      };
    });
}
