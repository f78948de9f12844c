/** The builder of a filter: a field for each of its members, all of which must hold, with what there is to choose from. */
import { useState } from 'preact/hooks';
import { dayOf, momentOf } from '../../components/date-filter.tsx';
import { Field } from '../../components/field.tsx';
import { useLoad } from '../../use-load.ts';
import { CustomFields } from './custom-fields-of-filter.tsx';
import { EventField, FacetField, Typed } from './facet-field.tsx';
import { type FilterParameters, filterOf, tellFilter } from './filter.ts';
import { PastFields } from './past-fields.tsx';
import { STATUSES } from './statuses.ts';

export interface FilterFieldsProps {
  /** Whose tags, fields, broadcasts and sequences are offered; null while no list is chosen. */
  list: { project: string; list: string } | null;
  of: FilterParameters;
  /** What the API calls the filter, before the names of its members: `filter.`. */
  prefix?: string;
  onChange(parameters: FilterParameters): void;
  /** With the members that a list has above it anyway; its status only where one is set: the rest of them gets no mail. */
  has_first?: boolean;
  /** Without those that an address has no place for. */
  is_of_address?: boolean;
}

export function FilterFields(props: FilterFieldsProps) {
  const { list, of, prefix = '', onChange, has_first = false, is_of_address = false } = props;
  const [has_status] = useState(has_first && of.status !== undefined);
  const facets = useLoad('GET /projects/{project}/email-lists/{list}/facets', list && { path: list }).data;
  const set = (name: string, value: string): void => onChange(changed(of, { [name]: value }));
  const tags = (name: string, label: string) => (
    <FacetField
      name={prefix + name}
      label={label}
      value={of[name] ?? ''}
      facets={facets?.tags ?? null}
      is_focused={!has_first && name === 'tags_any'}
      onType={(value) => set(name, value)}
    />
  );
  const days = (name: string, label: string) => (
    <Typed
      name={prefix + name}
      label={label}
      hint="Days, counted back from now."
      type="number"
      value={of[name] ?? ''}
      onType={(value) => set(name, value)}
    />
  );
  return (
    <div class="filter-fields">
      {has_status && <StatusField name={`${prefix}status`} of={of.status} set={set} />}
      {has_first && (
        <Typed
          name={`${prefix}q`}
          label="Address or name begins with"
          value={of.q ?? ''}
          onType={(value) => set('q', value)}
        />
      )}
      {tags('tags_any', 'With at least one of these tags')}
      {tags('tags_all', 'With all of these tags')}
      {tags('tags_none', 'With none of these tags')}
      <Typed
        name={`${prefix}domains`}
        label="At one of these domains"
        hint="What stands behind the @, separated by commas."
        value={of.domains ?? ''}
        onType={(value) => set('domains', value)}
      />
      {days('clicked_within_days', 'Clicked in a mail within')}
      {days('not_clicked_within_days', 'Clicked in no mail within')}
      {days('not_mailed_within_days', 'Got no mail within')}
      {list && <PastFields list={list} of={of} prefix={prefix} set={set} />}
      {!is_of_address &&
        (['event', 'no_event'] as const).map((name) => (
          <EventField
            key={name}
            name={prefix + name}
            label={name === 'event' ? 'With this event' : 'Without this event'}
            value={of[name] ?? ''}
            known={facets?.events ?? []}
            onChange={(value) => set(name, value)}
          />
        ))}
      {(['joined_after', 'joined_before'] as const).map((name) => (
        <Typed
          key={name}
          name={prefix + name}
          label={
            name === 'joined_after'
              ? 'On the list since this day or later'
              : 'On the list since before this day'
          }
          type="date"
          value={dayOf(of[name] ?? '')}
          onType={(day) => set(name, momentOf(day))}
        />
      ))}
      <CustomFields of={of} prefix={prefix} facets={facets?.custom ?? []} onChange={onChange} />
      <Nested of={of} onChange={onChange} />
    </div>
  );
}

function StatusField(props: {
  name: string;
  of: string | undefined;
  set(name: string, value: string): void;
}) {
  const { name, of = '', set } = props;
  return (
    <Field name={name} label="Status">
      {(ties) => (
        <select
          {...ties}
          class="input"
          value={of}
          onChange={(event) => set('status', event.currentTarget.value)}
        >
          <option value="">Any</option>
          {STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** What the API or the command line put there: it is told, and may be taken away. */
function Nested({ of, onChange }: Pick<FilterFieldsProps, 'of' | 'onChange'>) {
  const { any, none } = of;
  if (!any && !none) return null;
  const nested = filterOf({ ...(any && { any }), ...(none && { none }) });
  return (
    <p class="hint">
      And {tellFilter(nested)}.{' '}
      <button type="button" class="button small" onClick={() => onChange(changed(of, { any: '', none: '' }))}>
        Take this away
      </button>
    </p>
  );
}

/** What is empty is of no filter. */
function changed(of: FilterParameters, changes: FilterParameters): FilterParameters {
  return Object.fromEntries(Object.entries({ ...of, ...changes }).filter(([, value]) => value !== ''));
}
