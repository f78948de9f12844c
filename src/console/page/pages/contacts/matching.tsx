/** Counts the people of a list who fit a filter, as it is being built, and shows the first few. */
import type { ContactFilter } from '../../api.generated.ts';
import { counted } from '../../components/quantity.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';

/** Those that may be mailed: with another status the filter means nobody who is. */
export function Matching(props: { project: string; list: string; filter: ContactFilter }) {
  const { project, list } = props;
  const filter = useRested(props.filter);
  const { data, error } = useLoad(
    'POST /projects/{project}/email-lists/{list}/matching',
    list === '' ? null : { path: { project, list }, body: { filter } },
  );
  if (error) {
    const told = Object.values(error.errors).flat().join(' ') || error.message;
    return (
      <p class="wrong" role="status">
        {told}
      </p>
    );
  }
  return (
    <div class="matching" role="status">
      <p class="hint">
        {data
          ? `${data.sentence} ${counted(data.contacts_count, 'person')} of the list, as it is now. Who is suppressed is left out.`
          : list === ''
            ? 'Choose a list to see how many people that is.'
            : 'Counting…'}
      </p>
      {data && data.samples.length > 0 && (
        <ul class="samples" aria-label="Some of them">
          {data.samples.map((email) => (
            <li key={email}>{email}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
