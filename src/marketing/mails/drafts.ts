/** What a mail that is being written looks like, and what is wrong with it; and what of mails is done beside the server. Pure functions. */
import {
  compileMail,
  type PreviewedMail,
  previewMail,
  type TemplateFields,
} from '../../mail/templates/service.ts';
import type { Task } from '../../platform/host/beside.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { type Bodies, type LayoutValues, layOutBodies } from './layout.ts';
import type { OwnLinks } from './merge-fields.ts';
import { sampleText, valuesOfNobody } from './merging.ts';
import {
  deadLinkProblems,
  MAX_PREVIEW_PROBLEMS,
  type PreviewProblem,
  unsubscribeProblems,
} from './problems.ts';
import {
  fillPage,
  type MailOutlook,
  outlookOf,
  type ShownMail,
  showMail,
  type ToFill,
  type ToShow,
} from './showing.ts';
import { type ComposedTwice, composeBoth, composeSource, type SourceInput } from './source.ts';

/** A draft with all that it is shown by. */
export type DraftToShow =
  | { kind: 'marketing'; show: ToShow }
  | {
      kind: 'transactional';
      template: TemplateFields;
      given: Variables;
      /** Whether names without a value have a sample. */
      sample: boolean;
      links: OwnLinks;
      max_body_bytes: number;
    };
type Variables = Readonly<Record<string, unknown>>;

export interface Preview extends Omit<ShownMail, 'missing'> {
  problems: PreviewProblem[];
}

/** Throws AppError `invalid` for what is too long when it is rendered. */
export function showDraft(draft: DraftToShow): Preview {
  const is_marketing = draft.kind === 'marketing';
  const { missing, ...mail } = is_marketing ? showMarketing(draft.show) : showTransactional(draft);
  const { links } = is_marketing ? draft.show : draft;
  const problems = [
    ...missing.map((message): PreviewProblem => ({ code: 'missing_value', message })),
    ...deadLinkProblems(mail, links),
    ...(is_marketing ? unsubscribeProblems(mail, links) : []),
  ];
  return { ...mail, problems: problems.slice(0, MAX_PREVIEW_PROBLEMS) };
}

/** As shown, with a sentence for each name that is missing. */
function showMarketing(show: ToShow): ShownMail {
  const mail = showMail(show);
  return { ...mail, missing: mail.missing.map(sentenceOfMissing) };
}

function showTransactional({
  template,
  given,
  sample,
  max_body_bytes,
}: Extract<DraftToShow, { kind: 'transactional' }>): ShownMail {
  const compiled = compileMail(template);
  const show = (values: Variables): PreviewedMail => previewMail(compiled, values, { max_body_bytes });
  const once = show(given);
  const mail = sample ? show(withSamples(given, once.missing)) : once;
  const { missing, invalid, ...bodies } = mail;
  return {
    ...bodies,
    preheader: null,
    missing: [
      ...missing.map(sentenceOfMissing),
      ...invalid.map((name) => `The value for {{${name}}} is no text, number or boolean.`),
    ],
  };
}

const sentenceOfMissing = (name: string): string => `There is no value for {{${name}}}.`;

/** With a sample for each name that has no value, where there is room for one. */
function withSamples(given: Variables, missing: readonly string[]): Variables {
  const values: Record<string, unknown> = structuredClone(given);
  for (const name of missing) {
    const path = name.split('.');
    const last = path.pop() ?? '';
    const room = path.reduce<Record<string, unknown> | null>(roomIn, values);
    if (room) set(room, last, sampleText(name));
  }
  return values;
}

/** What has this name within; made where there is nothing yet, null where something else is. */
function roomIn(values: Record<string, unknown> | null, name: string): Record<string, unknown> | null {
  if (values === null) return null;
  const current = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined;
  if (current !== undefined) return isPlainObject(current) ? current : null;
  return set(values, name, {});
}

/** Also where the name is `__proto__`, which is a word as others are. */
function set<T>(values: Record<string, unknown>, name: string, value: T): T {
  Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true });
  return value;
}

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

/** Names that have no value where nobody is meant. */
export const LACKS_OF_NOBODY: Task<ToShow, string[]> = {
  name: 'marketing mail: lacks of nobody',
  run: ({ input, default_first_name }) =>
    valuesOfNobody(composeSource({ ...input, is_tracked: false }).source, default_first_name).missing,
};

export const FILL_PAGE: Task<ToFill, string> = { name: 'marketing mail: fill page', run: fillPage };

export const OUTLOOK: Task<ToShow, MailOutlook> = { name: 'marketing mail: outlook', run: outlookOf };

/** All that is done beside the server. */
export const MAIL_TASKS = [COMPOSE, LAY_OUT, SHOW, SHOW_DRAFT, OUTLOOK, LACKS_OF_NOBODY, FILL_PAGE];
