/** Members of a filter about broadcasts and sequences of the list, which are chosen by their names. */
import { Field } from '../../components/field.tsx';
import { useAll } from '../../use-all.ts';
import type { FilterParameters } from './filter.ts';

/** Those of which mail has gone out. */
const BEGUN = ['sending', 'testing', 'paused', 'sent', 'cancelled'];

export function PastFields(props: {
  list: { project: string; list: string };
  of: FilterParameters;
  prefix: string;
  set(name: string, value: string): void;
}) {
  const { list, of, prefix, set } = props;
  const path = { project: list.project };
  const broadcasts = useAll('GET /projects/{project}/email-broadcasts', { path }).data ?? [];
  const sequences = useAll('GET /projects/{project}/email-sequences', { path }).data ?? [];
  const begun = broadcasts.filter((each) => each.list === list.list && BEGUN.includes(each.status));
  const own = sequences.filter((each) => each.list === list.list);
  const choice = (name: string, label: string, choices: readonly { id: string; name: string }[]) =>
    // What is chosen stays a choice, whatever became of it.
    choices.length === 0 && !of[name] ? null : (
      <Field name={prefix + name} label={label}>
        {(ties) => (
          <select
            {...ties}
            class="input"
            value={of[name] ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
          >
            <option value="">Whether or not</option>
            {of[name] && !choices.some(({ id }) => id === of[name]) && (
              <option value={of[name]}>{of[name]}</option>
            )}
            {choices.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  return (
    <>
      {choice('received', 'Received the broadcast', begun)}
      {choice('clicked', 'Clicked in the broadcast', begun)}
      {choice('not_clicked', 'Received and did not click', begun)}
      {choice('sequence', 'Active in the sequence', own)}
    </>
  );
}
