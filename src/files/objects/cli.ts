/** `satchel object`: looking at stored files, and deleting one. They are uploaded over HTTP. */

import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { numberOption, requireYes, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { formatBytes, formatFields, formatTable } from '../../platform/cli/tables.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import type { ObjectLinks, Objects } from './service.ts';

type Services = { projects: Projects; objects: Objects; object_links: ObjectLinks };
type Noun = ReturnType<Cli<Services>['noun']>;

const filter = t.Object({ visibility: t.Optional(oneOf(['public', 'private'])) });

/** Registers `satchel object list | show | delete | revoke-links`. */
export function registerObjectCommands(cli: Cli<Services>): void {
  const object = cli.noun('object', 'stored files');
  registerList(cli, object);
  cli
    .verb(object, 'show <id>', 'one file, by its ULID')
    .example('satchel object show 01J8ZQ4T9V6X2N5K3B7C1D0E4F')
    .does(async ({ services }, _options, id = '') => {
      const row = services.objects.requireAny(id);
      const shown = services.objects.describe(row, services.projects.require(String(row.project_id)));
      return { json: shown, text: formatFields(shown) };
    });
  cli
    .verb(object, 'delete <id>', 'delete a file: its record and its bytes')
    .option('--yes', 'really do it')
    .example('satchel object delete 01J8ZQ4T9V6X2N5K3B7C1D0E4F --yes')
    .does(async ({ services, onTrail }, options, id = '') => {
      const row = services.objects.requireAny(id);
      const project = services.projects.require(String(row.project_id));
      const what = `1 file of ${formatBytes(row.size_bytes)}, ${JSON.stringify(row.original_filename)} of the project ${project.slug}`;
      requireYes(options, `deletes ${what}, for good`);
      await services.objects.remove(project.id, row.public_id, onTrail(project));
      return {
        json: { deleted: true, public_id: row.public_id },
        text: `Deleted: ${what}. Mails that wait keep what is attached to them.`,
      };
    });
  cli
    .verb(object, 'revoke-links', 'have no link to a file of a project that was made so far open anything')
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .example('satchel object revoke-links --project shop')
    .does(async ({ services, onTrail }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      await services.object_links.revoke(project, onTrail(project));
      return {
        json: { revoked: true, project: project.slug },
        text: `Every link to a file of ${project.slug} that was made so far is revoked. The files stay.`,
      };
    });
}

function registerList(cli: Cli<Services>, object: Noun): void {
  cli
    .verb(object, 'list', 'the files of a project, newest first')
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .option('--visibility <visibility>', 'only those that are public, or private')
    .option('--limit <n>', 'at most so many; all unless given', wholeNumber(1))
    .example('satchel object list --project shop --visibility public --limit 20')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const { visibility } = parse(filter, { visibility: textOption(options, 'visibility') });
      const objects = services.objects.listAll(project.id, { visibility }, numberOption(options, 'limit'));
      const rows = objects.map((one) => [
        one.public_id,
        one.original_filename,
        formatBytes(one.size_bytes),
        one.visibility,
        one.mime_type,
        one.created_at,
      ]);
      const titles = ['id', 'name', 'size', 'visibility', 'type', 'created'];
      const empty = visibility
        ? `No file of ${project.slug} is ${visibility}.`
        : `There are no files in ${project.slug}. They are uploaded with: POST /api/v1/objects`;
      return { json: objects, text: formatTable(titles, rows, empty) };
    });
}
