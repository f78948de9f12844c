/** The option `--project`, which `Verb.ofProject` adds, and the project of what is named by its id alone. */
import { type Options, textOption } from './options.ts';

/** The project that `--project` names. Throws AppError `not_found`. */
export function projectOf<P>({ projects }: { projects: { require(ref: string): P } }, options: Options): P {
  return projects.require(textOption(options, 'project') ?? '');
}

/** The project that a row belongs to. */
export function ownerOf<P>(
  { projects }: { projects: { requireById(id: number): P } },
  row: { project_id: number },
): P {
  return projects.requireById(row.project_id);
}
