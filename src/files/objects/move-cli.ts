/** `satchel object move`: carries bytes between the data directory and the store. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import { EXIT } from '../../platform/cli/cli.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { counted, formatBytes } from '../../platform/words/phrases.ts';
import type { ObjectMoves } from './service.ts';

const PLACES = ['s3', 'local', 'database'] as const;
const WHERE = { s3: 'the store', local: 'files of the data directory', database: 'the database' };

/** Registers `satchel object move`. */
export function registerMove<S extends { projects: Projects; object_moves: ObjectMoves }>(
  object: Noun<S>,
): void {
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
