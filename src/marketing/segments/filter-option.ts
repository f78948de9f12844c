/** Whom a verb is for: `--filter`, or `--segment` in place of it. */

import { type Options, textOption, UsageError } from '../../platform/cli/options.ts';
import { resolveNamed } from '../../platform/cli/project-option.ts';
import type { Naming } from '../../platform/words/naming.ts';
import { type ContactFilter, readFilter } from '../contacts/service.ts';

/** What `--segment` takes in the shell. */
export const SEGMENT_HELP = 'those of a segment of the list, in place of a filter: its id or name';

interface Needs {
  projects: { require(ref: string): { id: number } };
  segments: { filterNamed(list: { id: number; project_id: number }, public_id: string): ContactFilter };
  segment_names: Naming;
}

/** The filter that was given; undefined for none. Throws wrong usage for both, and AppError as `readFilter` and `filterNamed` do. */
export function filterOption(
  { projects, segments, segment_names }: Needs,
  list: { id: number; project_id: number },
  options: Options,
): ContactFilter | undefined {
  const filter = textOption(options, 'filter');
  const segment = textOption(options, 'segment');
  if (segment === undefined) return filter === undefined ? undefined : readFilter(filter);
  if (filter !== undefined) throw new UsageError('Give either --segment or a filter.');
  const of_project = { project: String(list.project_id) };
  return segments.filterNamed(list, resolveNamed({ projects, ...segment_names }, segment, of_project));
}
