/** Enrolling contacts of the list, and what became of those who were asked for. */
import { useState } from 'preact/hooks';
import type { ContactFilter } from '../../api.generated.ts';
import { type Answer, call, reloadAll } from '../../api.ts';
import { askFirst } from '../../components/ask-first.tsx';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { useAll } from '../../use-load.ts';
import { queryOf } from '../contacts/filter.ts';
import { FilterRows } from '../contacts/filter-rows.tsx';
import { Matching } from '../contacts/matching.tsx';
import { ContactPicker, type Picked } from './contact-picker.tsx';
import type { SequencePartProps } from './detail.tsx';

type Enrolled = Answer<'POST /projects/{project}/email-sequences/{sequence}/enroll'>;

const WHOM: [string, string][] = [
  ['all', 'Every active contact of the list'],
  ['filter', 'Those for whom conditions hold'],
  ['segment', 'Those of a segment'],
  ['contacts', 'Contacts that I choose'],
];

export function Enroll({ path, of }: Pick<SequencePartProps, 'path' | 'of'>) {
  const [whom, setWhom] = useState(of.enroll_tags.length > 0 ? 'filter' : 'all');
  const [filter, setFilter] = useState<ContactFilter>(
    of.enroll_tags.length > 0 ? { tags_any: of.enroll_tags } : {},
  );
  // Only active contacts can be enrolled.
  const active: ContactFilter = { status: 'active', ...filter };
  const [picked, setPicked] = useState<Picked[]>([]);
  const [done, setDone] = useState<Enrolled | null>(null);
  const segments = useAll(
    'GET /projects/{project}/email-segments',
    whom === 'segment' ? { path: { project: path.project }, query: { list: of.list } } : null,
  );
  if (of.status === 'finished') return null;
  if (of.status === 'draft')
    return <p class="notice">Contacts are enrolled once the sequence is active: activate it first.</p>;
  const enroll = async (entered: Entered): Promise<void> => {
    setDone(null);
    const body =
      whom === 'all'
        ? { all: true }
        : whom === 'filter'
          ? { filter: active }
          : whom === 'segment'
            ? { segment: entered.text('segment') }
            : { contact_ids: picked.map(({ id }) => id) };
    // Whoever was chosen by hand has been looked at.
    if (whom !== 'contacts')
      await askAbout(
        { path, of },
        {
          ...(whom === 'filter' && { filter: active }),
          ...(whom === 'segment' && { segment: entered.text('segment') }),
        },
      );
    setDone(await call('POST /projects/{project}/email-sequences/{sequence}/enroll', { path, body }));
    setPicked([]);
    // The numbers of the sequence, and the table of who is in it.
    reloadAll();
  };
  return (
    <Panel
      title="Enroll contacts"
      lead={
        of.status === 'paused'
          ? 'It is paused: whoever is enrolled now gets the first mail once it is resumed.'
          : 'Whoever was in the sequence before, whatever became of it, is not enrolled again.'
      }
    >
      <div class="stack">
        <Form
          is_fleeting
          submit={whom === 'all' ? 'Enroll every active contact' : 'Enroll'}
          onSubmit={enroll}
        >
          <SelectField name="whom" label="Whom" choices={WHOM} value={whom} onChange={setWhom} />
          {whom === 'filter' && (
            <>
              <FilterRows list={{ project: path.project, list: of.list }} of={filter} onChange={setFilter} />
              <Matching project={path.project} list={of.list} filter={active} />
            </>
          )}
          {whom === 'segment' && (
            <SelectField
              name="segment"
              label="Segment"
              choices={(segments.data ?? []).map(({ id, name }): [string, string] => [id, name])}
              hint={segments.data?.length === 0 && 'The list has no segment yet.'}
            />
          )}
          {whom === 'contacts' && (
            <ContactPicker
              name="contact_ids"
              label="Contacts"
              path={{ project: path.project, list: of.list }}
              picked={picked}
              onPick={setPicked}
            />
          )}
        </Form>
        {done && (
          <p class={`notice ${done.enrolled > 0 ? 'good' : 'warn'}`} role="status">
            {tellEnrolled(done)}
          </p>
        )}
      </div>
    </Panel>
  );
}

/** Whoever is told the number may think better of it: throws Declined. */
async function askAbout(
  { path, of }: Pick<SequencePartProps, 'path' | 'of'>,
  some: { filter?: ContactFilter; segment?: string },
): Promise<void> {
  const { meta } = await call('GET /projects/{project}/email-lists/{list}/contacts', {
    path: { project: path.project, list: of.list },
    query: {
      per_page: 1,
      ...(some.segment ? { segment: some.segment } : queryOf(some.filter ?? { status: 'active' })),
    },
  });
  const people = meta.total_capped
    ? `more than ${counted(meta.total, 'person')}`
    : counted(meta.total, 'person');
  await askFirst({
    title: `Enroll ${people}?`,
    submit: `Enroll ${people}`,
    told: (
      <p>
        {some.segment
          ? 'As many are in the segment; who is not active is left out.'
          : `As many are active${some.filter ? ' and fit' : ''}.`}{' '}
        Each gets the mails of {of.name} from its first step on, but for those who were in it before; who has
        been mailed cannot be unmailed.
      </p>
    ),
  });
}

/** "12 contacts are enrolled. 3 were before; 1 is suppressed; 2 are not active." */
function tellEnrolled({ enrolled, already, refused_suppressed, refused_status }: Enrolled): string {
  const are = (many: number): string => `${many} ${many === 1 ? 'is' : 'are'}`;
  const rest = [
    already > 0 ? `${already} ${already === 1 ? 'was' : 'were'} before` : '',
    refused_suppressed > 0 ? `${are(refused_suppressed)} suppressed` : '',
    refused_status > 0 ? `${are(refused_status)} not active` : '',
  ].filter(Boolean);
  const head = enrolled === 0 ? 'Nobody is enrolled.' : `${counted(enrolled, 'contact')} enrolled.`;
  return rest.length === 0 ? head : `${head} Of the others ${rest.join(', ')}.`;
}
