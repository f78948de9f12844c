/** The option `--project`, which `Verb.ofProject` adds, and the project of what is named by its id alone. */
import { type Options, textOption } from './options.ts';

interface Finds<P> {
  projects: { require(ref: string): P };
}

/** The project that `--project` names. Throws AppError `not_found`. */
export function projectOf<P>({ projects }: Finds<P>, options: Options): P {
  return projects.require(textOption(options, 'project') ?? '');
}

/** The project that a row belongs to. */
export function ownerOf<P>({ projects }: Finds<P>, row: { project_id: number }): P {
  return projects.require(String(row.project_id));
}
