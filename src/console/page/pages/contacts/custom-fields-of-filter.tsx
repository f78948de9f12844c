/** Custom fields in the builder of a filter, with the names and values that contacts of the list have. */
import { useId, useState } from 'preact/hooks';
import type { Answer } from '../../api.ts';
import { RowsField } from '../sequences/rows-field.tsx';
import { newUid } from '../sequences/step-draft.ts';
import { CUSTOM, type FilterParameters } from './filter.ts';

type CustomFacet = Answer<'GET /projects/{project}/email-lists/{list}/facets'>['custom'][number];

interface CustomRow {
  uid: number;
  name: string;
  value: string;
}

function rowsOf(parameters: FilterParameters): CustomRow[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    name.startsWith(CUSTOM) ? [{ uid: newUid(), name: name.slice(CUSTOM.length), value }] : [],
  );
}

/** Rows of their own, as one without a name yet is of no filter. */
export function CustomFields(props: {
  of: FilterParameters;
  prefix: string;
  facets: readonly CustomFacet[];
  onChange(parameters: FilterParameters): void;
}) {
  const { of, prefix, facets, onChange } = props;
  const id = useId();
  const [rows, setRows] = useState(() => rowsOf(of));
  const change = (now: CustomRow[]): void => {
    setRows(now);
    const named = now.filter(({ name }) => name.trim() !== '');
    const rest = Object.entries(of).filter(([name]) => !name.startsWith(CUSTOM));
    onChange(
      Object.fromEntries([
        ...rest,
        ...named.map(({ name, value }) => [CUSTOM + name.trim(), value] as const),
      ]),
    );
  };
  const unknown = rows.filter(
    ({ name }) =>
      name.trim() !== '' && facets.length > 0 && !facets.some((facet) => facet.name === name.trim()),
  );
  return (
    <RowsField
      name={`${prefix}custom`}
      label="Custom fields with these values"
      noun={['a', 'field']}
      hint={
        <>
          {unknown.length > 0 && (
            <>Nobody on the list has {unknown.map(({ name }) => `“${name}”`).join(', ')}.</>
          )}
          <datalist id={`${id}-names`}>
            {facets.map(({ name, count }) => (
              <option key={name} value={name} label={`${name} (${count})`} />
            ))}
          </datalist>
          {facets.map(({ name, samples }) => (
            <datalist key={name} id={`${id}-${name}`}>
              {samples.map((sample) => (
                <option key={String(sample)} value={String(sample)} />
              ))}
            </datalist>
          ))}
        </>
      }
      of={rows}
      makeRow={() => ({ uid: newUid(), name: '', value: '' })}
      onChange={change}
      cells={(row, index, set) => (
        <>
          <input
            class="input mono"
            aria-label={`Name of field ${index + 1}`}
            placeholder="plan"
            list={`${id}-names`}
            value={row.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value of field ${index + 1}`}
            placeholder="pro"
            list={`${id}-${row.name}`}
            value={row.value}
            onInput={(event) => set({ value: event.currentTarget.value })}
          />
        </>
      )}
    />
  );
}
