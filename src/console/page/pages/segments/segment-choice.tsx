/** Chooses people of a list: by a segment, or by a filter that is built here and may be kept as one. */
import { useId, useState } from 'preact/hooks';
import type { ContactFilter } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { SelectField } from '../../components/fields.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, to } from '../../router.ts';
import { useAll } from '../../use-load.ts';
import { FilterRows } from '../contacts/filter-rows.tsx';
import { Matching } from '../contacts/matching.tsx';

export interface Chosen {
  /** An id, or empty for the filter. */
  segment: string;
  filter: ContactFilter;
}

export function SegmentChoice(props: {
  project: string;
  list: string;
  chosen: Chosen;
  onChange(changes: Partial<Chosen>): void;
}) {
  const { project, list, chosen, onChange } = props;
  const segments = useAll(
    'GET /projects/{project}/email-segments',
    list === '' ? null : { path: { project }, query: { list } },
  );
  const [is_narrowed] = useState(Object.keys(chosen.filter).length > 0);
  const of_list = list === '' ? [] : (segments.data ?? []);
  const segment = of_list.find(({ id }) => id === chosen.segment);
  const choices: [string, string][] = [
    ['', 'Everybody, or those whom you choose here'],
    ...of_list.map(({ id, name }): [string, string] => [id, name]),
  ];
  // It stays a choice before the segments are there, too.
  if (chosen.segment !== '' && !segment) choices.push([chosen.segment, chosen.segment]);
  return (
    <>
      {choices.length > 1 && (
        <SelectField
          name="segment"
          label="Segment"
          choices={choices}
          value={chosen.segment}
          onChange={(id) => onChange({ segment: id })}
        />
      )}
      {chosen.segment === '' ? (
        <>
          <Matching project={project} list={list} filter={chosen.filter} />
          <details class="more" open={is_narrowed}>
            <summary>Only some of the list</summary>
            <FilterRows
              list={list === '' ? null : { project, list }}
              of={chosen.filter}
              onChange={(filter) => onChange({ filter })}
            />
            {list !== '' && Object.keys(chosen.filter).length > 0 && (
              <KeepAsSegment
                project={project}
                list={list}
                filter={chosen.filter}
                onKept={(id) => {
                  segments.reload();
                  onChange({ segment: id, filter: {} });
                }}
              />
            )}
          </details>
        </>
      ) : (
        segment && (
          <>
            <p class="hint">
              {segment.filter_sentence}{' '}
              <a
                href={hrefOf(to`/projects/${project}/segments/${segment.id}`)}
                target="_blank"
                rel="noreferrer"
              >
                Look at the segment
              </a>
            </p>
            <Matching project={project} list={list} filter={segment.filter} />
          </>
        )
      )}
    </>
  );
}

/** In a form of something else: its field is no field of that form. */
function KeepAsSegment(props: {
  project: string;
  list: string;
  filter: ContactFilter;
  onKept(id: string): void;
}) {
  const { project, list, filter, onKept } = props;
  const [name, setName] = useState('');
  const id = useId();
  const keep = async (): Promise<void> => {
    const made = await call('POST /projects/{project}/email-segments', {
      path: { project },
      body: { name: name.trim(), list, filter },
    });
    toast(`The segment ${made.name} is kept`);
    onKept(made.id);
  };
  return (
    <div class="field">
      <label for={id}>Keep it as a segment</label>
      <div class="row">
        <input
          id={id}
          class="input"
          placeholder="Customers who went quiet"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        <ActionButton act={keep}>Keep it</ActionButton>
      </div>
    </div>
  );
}
