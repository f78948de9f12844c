/** The option `--project`: which project it names, and what a name beside it means. */
import type { Command } from 'commander';
import { notFound } from '../../errors.ts';
import { isUlid } from '../host/ids.ts';
import { findNamed, type Named, type Naming } from '../words/phrases.ts';
import { type Options, textOption, UsageError } from './options.ts';

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

/** Where names are looked up: `{ projects, ...services.lists.naming }`. */
type NamingPlace = Naming & { projects: { require(ref: string): { id: number } } };

/**
 * Finds what is named. Wrong usage for a name without --project. Throws AppError `not_found`, and `conflict` with
 * the ids where several have the name.
 */
export function requireNamed(place: NamingPlace, ref: string, options: Options): Named {
  const { what } = place;
  const project = textOption(options, 'project');
  if (project === undefined && !isUlid(ref))
    throw new UsageError(`A ${what} is named by its id, or with --project by its name.`);
  const found =
    project === undefined
      ? place.byId(ref.toUpperCase())
      : findNamed(place, place.projects.require(project).id, ref);
  if (!found)
    throw notFound(what.charAt(0).toUpperCase() + what.slice(1), `satchel ${what} list --project REF`);
  return found;
}

/** As `requireNamed`; the key that services take it by. */
export function resolveNamed(place: NamingPlace, ref: string, options: Options): string {
  return requireNamed(place, ref, options).key;
}

/** For a verb whose argument or option may be a name. */
export function addProjectOfName<C extends Command>(verb: C): C {
  return verb.option('--project <project>', 'the project, for what is given by its name rather than its id');
}
