/** What of marketing mail is done beside the server: who writes it decides how long it is. */
import type { Task } from '../../platform/host/beside.ts';
import { type DraftToShow, type Preview, showDraft } from './drafts.ts';
import { type Bodies, type LayoutValues, layOutBodies } from './layout.ts';
import { type MailOutlook, outlookOf, type ShownMail, showMail, type ToShow } from './showing.ts';
import { type ComposedTwice, composeBoth, type SourceInput } from './source.ts';

export const COMPOSE: Task<Omit<SourceInput, 'is_tracked'>, ComposedTwice> = {
  name: 'marketing mail: compose',
  run: composeBoth,
};

export const LAY_OUT: Task<{ bodies: Bodies; values: LayoutValues }, Bodies> = {
  name: 'marketing mail: lay out',
  run: ({ bodies, values }) => layOutBodies(bodies, values),
};

export const SHOW: Task<ToShow, ShownMail> = { name: 'marketing mail: show', run: showMail };

export const SHOW_DRAFT: Task<DraftToShow, Preview> = { name: 'marketing mail: show draft', run: showDraft };

export const OUTLOOK: Task<ToShow, MailOutlook> = { name: 'marketing mail: outlook', run: outlookOf };
