/** What the verbs of marketing work with. */
import type { Projects } from '../access/projects/service.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Naming } from '../platform/words/naming.ts';
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
