/** Fields of a sequence: its name, its people, and the events that end it. */
import { useState } from 'preact/hooks';
import type { Sequence } from '../../api.generated.ts';
import { check, Fields, mapped, number, SelectField, text, words } from '../../components/fields.tsx';
import { useLoad } from '../../use-load.ts';

export const NAME = { name: text('Name', { placeholder: 'Welcome' }) };
export const BY_ITSELF = {
  auto_enroll_new_contacts: check('Enroll new active contacts by itself', {
    hint: 'Whoever comes onto the list once it runs. Otherwise you, or an app, enroll people.',
  }),
};
export const MOST = {
  max_recipients: mapped<number, number | null>(
    number('Maximum number of contacts', {
      placeholder: '1000',
      hint: 'Nobody is enrolled past this number, so that a wrong list does little harm.',
    }),
    Number,
    Number,
  ),
};
export const WHOM = {
  enroll_tags: words('For contacts with one of these tags', {
    hint: 'Separated by commas. Empty: for everybody on the list.',
  }),
  auto_enroll_new_contacts: check('Enroll new active contacts automatically'),
  exit_events: words('Events that end it for a contact', {
    placeholder: 'purchased',
    hint: 'Separated by commas. An app reports them; a click is the event clicked.',
    is_mono: true,
  }),
};
export const COUNTING = {
  track_opens: check('Count opens', {
    hint: 'Puts a picture of one pixel into each mail. Many programs open it by themselves: no condition looks at it.',
  }),
};

/** As many as a page of the API has. */
const LISTS = 100;

/** The first fields, for making one. */
export function FirstFields({ project, of }: { project: string; of?: Sequence }) {
  const path = { project };
  const lists = useLoad('GET /projects/{project}/email-lists', { path, query: { per_page: LISTS } });
  const choices: [string, string][] = (lists.data?.data ?? []).map(({ id, name }) => [id, name]);
  const [list, setList] = useState(of?.list ?? '');
  const chosen = lists.data?.data.find(({ id }, _, all) => id === list || (!of && all.length === 1));
  const room = chosen ? roomFor(chosen.active_count) : null;
  const is_fixed = of !== undefined && of.status !== 'draft';
  // The present list is offered before the others are loaded, so that whoever saves by then does not change it.
  if (of && !choices.some(([id]) => id === of.list))
    choices.unshift([of.list, lists.data ? `${of.list}, archived` : of.list]);
  return (
    <>
      <Fields fields={NAME} of={of} is_focused={!of} />
      {is_fixed ? null : (
        <SelectField
          // The choice is known once the lists are loaded.
          key={choices.length}
          name="list"
          label="List"
          choices={of ? choices : [['', 'Choose a list'], ...choices]}
          onChange={setList}
          value={of?.list ?? (choices.length === 1 ? choices[0]?.[0] : '')}
          hint={
            lists.data && choices.length === 0
              ? 'The project has no list yet: make one first.'
              : 'Contacts of this list can be enrolled. It stays once the sequence runs.'
          }
        />
      )}
      {!of && <Fields fields={BY_ITSELF} />}
      <Fields key={of ? '' : String(room)} fields={MOST} of={of ?? { max_recipients: room }} />
    </>
  );
}

/** A round number with room for twice as many as there are. */
function roomFor(contacts: number): number {
  const least = Math.max(1000, 2 * contacts);
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((digit) => digit * power >= least) ?? 10) * power;
}

/** Those that a sequence is refined with; whom its mail is for stays once it runs. */
export const FurtherFields = ({ of }: { of: Sequence }) => (
  <Fields fields={{ ...(of.status === 'draft' && WHOM), ...COUNTING }} of={of} />
);
