/** `satchel object`: looking at stored files, and deleting them. bytes-cli.ts carries their bytes. */
import { Option } from 'commander';
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { secondsOf } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { oneOf, t } from '../../platform/http/schema.ts';
import { counted, formatBytes } from '../../platform/words/phrases.ts';
import { type ByteServices, registerByteCommands } from './bytes-cli.ts';
import { linkWishes } from './schemas.ts';
import type { ObjectLinks, ObjectMoves } from './service.ts';

type Services = ByteServices & { object_links: ObjectLinks; object_moves: ObjectMoves };

const filter = t.Object({ visibility: t.Optional(oneOf(['public', 'private'])) });

const objectOf = ({ objects }: Services, id: string) => objects.requireAny(id);

/** Registers `satchel object list | show | put | get | link | move | delete | revoke-links`. */
export function registerObjectCommands(cli: Cli<Services>): void {
  const object = cli.noun('object');
  object
    .verb('list', 'the files of a project, newest first')
    .ofProject()
    .takes(fieldsOf(filter, { visibility: ['--visibility <visibility>', 'only these'] }), filter)
    .example('satchel object list --project shop --visibility public --limit 20')
    .lists(
      ({ services, project, page, sent }) =>
        services.objects.listWithStores(project.id, { ...page, visibility: sent.visibility }),
      (one) =>
        rowOf(
          { ...one, size: formatBytes(one.size_bytes) },
          'id=public_id name=original_filename size visibility type=mime_type store created=created_at',
        ),
      ({ project: { slug }, sent }) =>
        sent.visibility === undefined
          ? `There are no files in ${slug}. Store one with: satchel object put FILE --project ${slug}`
          : `No file of ${slug} is ${sent.visibility}.`,
    );
  object
    .verb('show <id>', 'one file, by its ULID')
    .example('satchel object show 01J8ZQ4T9V6X2N5K3B7C1D0E4F')
    .finds(objectOf)
    .shows(({ services, row, project }) => services.objects.describe(row, project));
  registerByteCommands(cli, object);
  registerMove(object);
  object
    .verb('link <id>', 'make a link that opens a file without a key')
    .finds(objectOf)
    .takes(
      fieldsOf(linkWishes, {
        expires_in_seconds: ['--expires-in <span>', 'how long it is good: 90s, 30m, 6h, 7d; a week at most'],
        download: ['--download', 'have browsers download it instead of showing it'],
      }),
      linkWishes,
      { reads: { expires_in_seconds: (span) => secondsOf(span, '--expires-in') } },
    )
    .example('satchel object link 01J8ZQ4T9V6X2N5K3B7C1D0E4F --expires-in 6h')
    .shows(
      ({ services, project, row, sent, trail }) => services.object_links.create(project, row, sent, trail),
      ({ url, expires_at }, { row }) =>
        `${url}\nIt opens ${JSON.stringify(row.original_filename)} until ${expires_at}, to whoever has it.`,
    );
  object
    .verb('delete <id>', 'delete a file: its record and its bytes')
    .example('satchel object delete 01J8ZQ4T9V6X2N5K3B7C1D0E4F --yes')
    .finds(objectOf)
    .removes(async ({ services, project, row, consent, trail }) => {
      const what = `1 file of ${formatBytes(row.size_bytes)}, ${JSON.stringify(row.original_filename)} of the project ${project.slug}`;
      consent(`deletes ${what}, for good`);
      await services.objects.remove(project.id, row.public_id, trail);
      return {
        json: { deleted: true, public_id: row.public_id },
        text: `Deleted: ${what}. Mails that wait keep what is attached to them.`,
      };
    });
  object
    .verb('revoke-links', 'have no link to a file of a project that was made so far open anything')
    .ofProject()
    .example('satchel object revoke-links --project shop')
    .does(async ({ services, project, trail }) => {
      await services.object_links.revoke(project, trail);
      return {
        json: { revoked: true, project: project.slug },
        text: `Every link to a file of ${project.slug} that was made so far is revoked. The files stay.`,
      };
    });
}

const PLACES = ['s3', 'local', 'database'] as const;
const WHERE = { s3: 'the store', local: 'files of the data directory', database: 'the database' };

function registerMove(object: Noun<Services>): void {
  object
    .verb(
      'move',
      'move the bytes of files into the object store, into files of the data directory, or small ones into the database',
    )
    .addOption(
      new Option(
        '--to <store>',
        'where to: the store of SATCHEL_OBJECT_STORE, files of the data directory, or the database',
      )
        .choices(PLACES)
        .makeOptionMandatory(),
    )
    .option('--project <project>', 'only those of this one: numeric id, ULID or slug')
    .remark(`A server may run meanwhile, and serves each file from where it is. Cut off, it goes on where it was
when it is run again. The database takes files of at most 64 KiB, as it does at an upload. Files that could not
be moved are named, and the exit status is 1 then.`)
    .example('satchel object move --to s3', 'satchel object move --to local --project shop')
    .does(async (session, options) => {
      const to = PLACES.find((place) => place === options.to) ?? 'local';
      const { services, onTrail, progress } = session;
      const project = options.project === undefined ? null : projectOf(services, options);
      const result = await services.object_moves.move(to, {
        project_id: project?.id ?? null,
        note: onTrail(project),
        onProgress: progress('moving'),
      });
      const { moved, moved_bytes, stayed } = result;
      const lines = [
        `Moved to ${WHERE[to]}: ${counted(moved, 'file', 'files')} (${formatBytes(moved_bytes)}).`,
        ...stayed.map(({ public_id, reason }) => `${public_id} stayed where it was: ${reason}`),
      ];
      return {
        json: result,
        text: lines.join('\n'),
        exit: stayed.length > 0 ? EXIT.refused : EXIT.done,
      };
    });
}
