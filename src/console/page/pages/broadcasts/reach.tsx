/** How many people of a list a filter fits as it is being built, or a segment means. */
import { counted, countedTo } from '../../components/quantity.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';
import { type FilterParameters, filterOf } from '../contacts/filter.ts';

/** Those that may be mailed: with another status the filter fits nobody who is. */
export function Reach(props: { project: string; list: string; filter: FilterParameters }) {
  const { project, list } = props;
  const filter = useRested(props.filter);
  // These have no place in a query: `check` counts them, once they are saved.
  const has_parts = ['event', 'no_event', 'any', 'none'].some((name) => name in filter);
  const load = useLoad(
    'GET /projects/{project}/email-lists/{list}/contacts',
    list === '' || has_parts
      ? null
      : { path: { project, list }, query: { status: 'active', ...filterOf(filter), per_page: 1 } },
  );
  const { data, error } = load;
  const told = error
    ? Object.values(error.errors).flat().join(' ') || error.message
    : data
      ? `${countedTo(data.meta, 'person')} of the list, as it is now. Who is suppressed is left out when it is sent.`
      : has_parts
        ? 'Save it to see how many people that is.'
        : list === ''
          ? 'Choose a list to see how many people that is.'
          : 'Counting…';
  return (
    <p class={error ? 'wrong' : 'hint'} role="status">
      {told}
    </p>
  );
}

export function SegmentReach({ project, segment }: { project: string; segment: string }) {
  const { data, error } = useLoad('GET /projects/{project}/email-segments/{segment}', {
    path: { project, segment },
  });
  const told = data
    ? `${counted(data.contacts_count ?? 0, 'person')} would get it, as the list and the segment are now.`
    : (error?.message ?? 'Counting…');
  return (
    <p class={error ? 'wrong' : 'hint'} role="status">
      {told}
    </p>
  );
}
