/** `satchel object`: looking at stored files, and deleting them. bytes-cli.ts carries their bytes. */
import { Option } from 'commander';
import type { Cli } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import { secondsOf } from '../../platform/cli/moments.ts';
import { textOption, textOptions } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import { formatBytes } from '../../platform/words/phrases.ts';
import { type ByteServices, registerByteCommands } from './bytes-cli.ts';
import { registerMove } from './move-cli.ts';
import { linkWishes } from './schemas.ts';
import type { ObjectLinks, ObjectMoves } from './service.ts';

type Services = ByteServices & { object_links: ObjectLinks; object_moves: ObjectMoves };

const filter = t.Object({ visibility: t.Optional(oneOf(['public', 'private'])) });

/** Registers `satchel object list | show | put | get | link | move | delete | revoke-links`. */
export function registerObjectCommands(cli: Cli<Services>): void {
  const object = cli.noun('object');
  object
    .verb('list', 'the files of a project, newest first')
    .ofProject()
    .addOption(new Option('--visibility <visibility>', 'only these').choices(['public', 'private']))
    .example('satchel object list --project shop --visibility public --limit 20')
    .lists(
      ({ services, page }, options) => {
        const { visibility } = parse(filter, textOptions(options, 'visibility'));
        return services.objects.listWithStores(projectOf(services, options).id, { ...page, visibility });
      },
      (one) => ({
        id: one.public_id,
        name: one.original_filename,
        size: formatBytes(one.size_bytes),
        visibility: one.visibility,
        type: one.mime_type,
        store: one.store,
        created: one.created_at,
      }),
      ({ services }, options) => {
        const { slug } = projectOf(services, options);
        return options.visibility === undefined
          ? `There are no files in ${slug}. Store one with: satchel object put FILE --project ${slug}`
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
  registerByteCommands(cli, object);
  registerMove(object);
  object
    .verb('link <id>', 'make a link that opens a file without a key')
    .requiredOption('--expires-in <span>', 'how long it is good: 90s, 30m, 6h, 7d; a week at most')
    .option('--download', 'have browsers download it instead of showing it')
    .example('satchel object link 01J8ZQ4T9V6X2N5K3B7C1D0E4F --expires-in 6h')
    .does(async ({ services, onTrail }, options, id) => {
      const row = services.objects.requireAny(id);
      const expires_in_seconds = secondsOf(textOption(options, 'expiresIn') ?? '', '--expires-in');
      const link = await inOptions({ expires_in_seconds: '--expires-in' }, () => {
        const wishes = parse(linkWishes, { expires_in_seconds, download: options.download === true });
        const project = ownerOf(services, row);
        return services.object_links.create(project, row, wishes, onTrail(project));
      });
      const ends = `It opens ${JSON.stringify(row.original_filename)} until ${link.expires_at}, to whoever has it.`;
      return { json: link, text: `${link.url}\n${ends}` };
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
