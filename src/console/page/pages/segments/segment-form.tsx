/** The form of a segment: its name, and the filter that it keeps, with the people whom that means beside it. */
import { useState } from 'preact/hooks';
import type { ContactFilter } from '../../api.generated.ts';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAll } from '../../use-load.ts';
import { FilterRows } from '../contacts/filter-rows.tsx';
import { Matching } from '../contacts/matching.tsx';

export interface Written {
  name: string;
  filter: ContactFilter;
}

export function SegmentForm(props: {
  project: string;
  /** Of one that is changed, which stays on its list. */
  of?: Written & { list: string };
  list?: string;
  version?: string | null;
  submit: string;
  onSave(list: string, written: Written, entered: Entered): Promise<void>;
  onCancel(): void;
}) {
  const { project, of, version = null, submit, onSave, onCancel } = props;
  const lists = useAll('GET /projects/{project}/email-lists', of ? null : { path: { project } });
  const [chosen, setChosen] = useState(props.list ?? '');
  const list = of?.list ?? (chosen || (lists.data?.[0]?.id ?? ''));
  const [filter, setFilter] = useState(of?.filter ?? {});
  const save = (entered: Entered): Promise<void> =>
    onSave(list, { name: entered.text('name'), filter }, entered);
  return (
    <div class="wide-form">
      <Form submit={submit} version={version} onSubmit={save} onCancel={onCancel}>
        <Panel title="The segment">
          <div class="form">
            <TextField
              name="name"
              label="Name"
              value={of?.name}
              placeholder="Customers who went quiet"
              is_focused={!of}
            />
            {!of && (
              <SelectField
                name="list"
                label="List"
                choices={(lists.data ?? []).map(({ id, name }): [string, string] => [id, name])}
                value={list}
                onChange={setChosen}
              />
            )}
          </div>
        </Panel>
        <Panel
          title="Who is in it"
          lead="All conditions must hold. It is asked anew each time the segment is used."
        >
          <div class="form filter-form">
            <FilterRows list={list === '' ? null : { project, list }} of={filter} onChange={setFilter} />
            <Matching project={project} list={list} filter={filter} />
          </div>
        </Panel>
      </Form>
    </div>
  );
}
