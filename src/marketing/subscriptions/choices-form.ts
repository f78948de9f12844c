/** The second form of the unsubscribe page: what its reader gets, whether for a while nothing, and whether they are counted. */
import { Html, html } from '../../platform/http/pages.ts';
import type { Reader } from '../../platform/words/readers.ts';
import { type Choices, FIELDS, fieldOf, shownOf } from './choices.ts';

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
