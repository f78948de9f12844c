/** What somebody may choose on the page of their choices, what they sent of it, and what that changes. */
import type { Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { Html, html } from '../../platform/http/pages.ts';
import type { Reader } from '../../platform/words/words.ts';
import { type ContactRow, type Contacts, isPaused } from '../contacts/service.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import type { Tracking, TrackingChoices } from '../tracking/service.ts';

/** A list to choose; `contact` where the address is on it, or was. */
interface ListChoice {
  list: ListRow;
  is_on: boolean;
  contact: ContactRow | null;
}

/** As things stand, and as the page shows them. */
export interface Choices {
  lists: ListChoice[];
  /** Null where it gets mail. */
  paused_until: number | null;
  is_tracked: boolean;
}

/** What a form says: what its page showed, and what was ticked in it. */
export interface SentChoices {
  /** By the id of the list, whether it was shown as ticked. */
  shown: ReadonlyMap<string, boolean>;
  was_paused: boolean;
  was_tracked: boolean;
  /** Ids of lists. */
  ticked: ReadonlySet<string>;
  pause: boolean;
  tracking: boolean;
}

/** What came of it: names of lists that a mail asks to confirm. */
export interface Chosen {
  asked_to_confirm: string[];
}

interface ChoicesDeps {
  clock: Clock;
  contacts: Pick<Contacts, 'rowsOfAddress'>;
  lists: Pick<Lists, 'listPublic' | 'takesSignUps'>;
  suppressions: Suppressions;
  tracking: Pick<TrackingChoices, 'isTracked'>;
  projectOf(id: number): { status: 'active' | 'inactive' } | null;
}

/**
 * What an address may choose: of public lists alone, those that it is on or may join. Null where it is suppressed: then it gets no
 * marketing whatever it chooses.
 */
export function choicesOf(
  { clock, contacts, lists, suppressions, tracking, projectOf }: ChoicesDeps,
  read: Tx,
  { contact: { project_id, email }, owner }: { contact: ContactRow; owner: KeyOwner },
): Choices | null {
  if (suppressions.checker(read, owner)(email) !== null) return null;
  const rows = contacts.rowsOfAddress(read, { project_id, email });
  const may_join = projectOf(project_id)?.status === 'active';
  const now = clock.now();
  return {
    lists: lists.listPublic(project_id, read).flatMap((list) => {
      const contact = rows.find(({ list_id }) => list_id === list.id) ?? null;
      const is_on = contact?.status === 'active';
      return is_on || (may_join && lists.takesSignUps(list)) ? [{ list, is_on, contact }] : [];
    }),
    paused_until: rows.find((row) => isPaused(row, now))?.paused_until ?? null,
    is_tracked: tracking.isTracked(read, { project_id, email }),
  };
}

/**
 * What a form changes: only where it differs from what its page showed, so that saving an old page undoes nothing, and a box that was
 * ticked before says nothing.
 */
export function differencesOf(
  { lists }: Choices,
  sent: SentChoices,
): {
  left: ContactRow[];
  joined: ListRow[];
  pause: boolean | undefined;
  tracking: Tracking | undefined;
} {
  const left: ContactRow[] = [];
  const joined: ListRow[] = [];
  for (const { list, is_on, contact } of lists) {
    const was_ticked = sent.shown.get(list.public_id);
    const is_ticked = sent.ticked.has(list.public_id);
    if (was_ticked === undefined || was_ticked === is_ticked || is_ticked === is_on) continue;
    if (is_ticked) joined.push(list);
    else if (contact) left.push(contact);
  }
  const pause = sent.pause === sent.was_paused ? undefined : sent.pause;
  const told = sent.tracking ? 'allowed' : 'refused';
  return { left, joined, pause, tracking: sent.tracking === sent.was_tracked ? undefined : told };
}

/** Names of the form's fields: one for all that was shown, one for each list. */
const SHOWN = 'shown';
const LIST = 'list.';

/** What the form tells that its page showed, in one field. */
export function shownOf({ lists, paused_until, is_tracked }: Choices): string {
  const marks = [...(paused_until === null ? [] : ['paused']), ...(is_tracked ? ['tracked'] : [])];
  return [...marks, ...lists.map(({ list, is_on }) => `${list.public_id}${is_on ? '+' : '-'}`)].join(' ');
}

export const FIELDS = { choices: 'choices', shown: SHOWN, pause: 'pause', tracking: 'tracking' } as const;

export function fieldOf(list: ListRow): string {
  return LIST + list.public_id;
}

/**
 * The choices that a form has; null for whatever is none. Mail programs post here too (RFC 8058), with `List-Unsubscribe` or with
 * nothing, and mean to unsubscribe.
 */
export function readChoices(form: Readonly<Record<string, string>>): SentChoices | null {
  if (form[FIELDS.choices] !== '1' || form['List-Unsubscribe'] !== undefined) return null;
  const shown = (form[SHOWN] ?? '').split(' ');
  const lists = shown.flatMap((one): [string, boolean][] => {
    const [, id, mark] = /^([0-9A-Z]{26})([+-])$/.exec(one) ?? [];
    return id === undefined ? [] : [[id, mark === '+']];
  });
  return {
    shown: new Map(lists),
    was_paused: shown.includes('paused'),
    was_tracked: shown.includes('tracked'),
    ticked: new Set(
      Object.keys(form).flatMap((name) => (name.startsWith(LIST) ? [name.slice(LIST.length)] : [])),
    ),
    pause: form[FIELDS.pause] !== undefined,
    tracking: form[FIELDS.tracking] !== undefined,
  };
}

/** What `{{preferences_url}}` leads to on the page. */
export const CHOICES_ANCHOR = 'choices';

export function choicesForm(choices: Choices, { words: { choices: words, join }, language }: Reader): Html {
  const { paused_until } = choices;
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  const boxes = [
    ...choices.lists.map(({ list, is_on }) => box(fieldOf(list), list.name, is_on)),
    paused_until === null
      ? box(FIELDS.pause, words.pause, false)
      : box(FIELDS.pause, words.paused({ date: date.format(paused_until) }), true),
    box(FIELDS.tracking, join.tracking, choices.is_tracked),
  ];
  return html`<form method="post" id="${CHOICES_ANCHOR}">
<h2>${words.title}</h2>
<input type="hidden" name="${FIELDS.choices}" value="1">
<input type="hidden" name="${FIELDS.shown}" value="${shownOf(choices)}">
${new Html(boxes.map(({ text }) => text).join('\n'))}
<button type="submit">${words.button}</button>
</form>`;
}

function box(name: string, label: string, is_ticked: boolean): Html {
  const checked = new Html(is_ticked ? ' checked' : '');
  return html`<label><input type="checkbox" name="${name}" value="1"${checked}> ${label}</label>`;
}
