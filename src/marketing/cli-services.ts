/** The services of marketing's verbs, and what these share. */
import type { Projects } from '../access/projects/service.ts';
import type { CliContext } from '../platform/cli/cli.ts';
import { resolveNamed } from '../platform/cli/project-option.ts';
import type { Clock } from '../platform/host/clock.ts';
import { secondOfName } from '../platform/http/record-routes.ts';
import { isSecond, type Naming } from '../platform/words/phrases.ts';
import type { Broadcasts } from './broadcasts/service.ts';
import type { Contacts } from './contacts/service.ts';
import type { Imports } from './imports/service.ts';
import type { Lists } from './lists/service.ts';
import type { Segments } from './segments/service.ts';
import type { Sequences } from './sequences/service.ts';
import type { MarketingSettings } from './settings/service.ts';
import type { Suppressions } from './suppressions/service.ts';

export interface MarketingServices {
  broadcasts: Broadcasts;
  broadcast_names: Naming;
  clock: Clock;
  contacts: Contacts;
  imports: Imports;
  list_names: Naming;
  lists: Lists;
  marketing: MarketingSettings;
  projects: Projects;
  segment_names: Naming;
  segments: Segments;
  sequence_names: Naming;
  sequences: Sequences;
  suppressions: Suppressions;
  template_names: Naming;
}

type Named = 'list_names' | 'segment_names' | 'sequence_names' | 'broadcast_names' | 'template_names';
type OfProject<N extends Named> = {
  services: { projects: { require(ref: string): { id: number } } } & Record<N, Naming>;
  project: { id: number };
};

/** Reads what is named in the project of a verb. Throws as `resolveNamed` does. */
export function keyIn<N extends Named>(names: N) {
  return (ref: string, { services, project }: OfProject<N>): string =>
    resolveNamed({ projects: services.projects, ...services[names] }, ref, { project: String(project.id) });
}

/** Tells the person at the terminal where a project has another of this name. */
export function noteSecond<W extends 'list' | 'segment' | 'sequence' | 'broadcast'>(
  { services, project, note }: OfProject<`${W}_names`> & Pick<CliContext, 'note'>,
  what: W,
  name: string,
): void {
  const names: Naming = services[`${what}_names`];
  if (isSecond(names, project.id, name)) note(secondOfName(what, name));
}
