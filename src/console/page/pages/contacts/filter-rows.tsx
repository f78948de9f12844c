/** The builder of a filter: rows of what is asked, how, and of what, all of which hold; one group of which some do, one of none. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ContactFilter } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import {
  type Draft,
  draftOf,
  FIELDS,
  filterOf,
  isFilled,
  isTaken,
  newRow,
  type Row,
  relationOf,
} from './filter.ts';
import { FilterValue } from './filter-value.tsx';

interface FilterRowsProps {
  /** The list that offers its tags, fields, broadcasts and sequences; null while none is chosen. */
  list: { project: string; list: string } | null;
  /** The first filter; the rows keep later changes themselves. */
  of: ContactFilter;
  /** The API's name of the filter, before the names of its members: `filter.`. */
  prefix?: string;
  onChange(filter: ContactFilter): void;
}

export function FilterRows({ list, of, prefix = 'filter.', onChange }: FilterRowsProps) {
  const [draft, setDraft] = useState(() => {
    const read = draftOf(of);
    const is_empty = Object.values(read).every((rows) => rows.length === 0);
    return is_empty ? { ...read, all: [newRow()] } : read;
  });
  const change = (changes: Partial<Draft>): void => {
    const next = { ...draft, ...changes };
    setDraft(next);
    onChange(filterOf(next));
  };
  const begin = (group: 'some' | 'none', label: string) =>
    draft[group].length === 0 && (
      <AddButton onClick={() => change({ [group]: [[newRow()]] })}>{label}</AddButton>
    );
  return (
    <div class="conditions">
      <Rows
        of={draft.all}
        list={list}
        prefix={prefix}
        what="Condition"
        add="Add a condition"
        beside={
          <>
            {begin('some', 'Add “at least one of”')}
            {begin('none', 'Add “none of”')}
          </>
        }
        onChange={(all) => change({ all })}
      />
      <Group
        title="And at least one of these"
        word="or"
        of={draft.some}
        list={list}
        prefix={`${prefix}any`}
        onChange={(some) => change({ some })}
      />
      <Group
        title="And none of these"
        word="nor"
        of={draft.none}
        list={list}
        prefix={`${prefix}none`}
        onChange={(none) => change({ none })}
      />
    </div>
  );
}

function AddButton({ onClick, children }: { onClick(): void; children: string }) {
  return (
    <button type="button" class="button small" onClick={onClick}>
      <Icon name="plus" size={14} />
      {children}
    </button>
  );
}

/** Rows that hold together. */
function Rows(props: {
  of: readonly Row[];
  list: FilterRowsProps['list'];
  prefix: string;
  /** The name of one of them. */
  what: string;
  add: string;
  beside?: ComponentChildren;
  onChange(rows: Row[]): void;
}) {
  const { of, list, prefix, what, beside, onChange } = props;
  const [added, setAdded] = useState<Row | null>(null);
  const add = (): void => {
    const row = newRow(of);
    setAdded(row);
    onChange([...of, row]);
  };
  return (
    <>
      {of.map((row, index) => (
        <RowFields
          key={row.uid}
          of={row}
          others={of.filter((each) => each !== row)}
          title={`${what} ${index + 1}`}
          list={list}
          prefix={prefix}
          is_focused={row.uid === added?.uid}
          onChange={(changes) => onChange(of.map((each) => (each === row ? { ...each, ...changes } : each)))}
          onRemove={() => onChange(of.filter((each) => each !== row))}
        />
      ))}
      <div class="row">
        <AddButton onClick={add}>{props.add}</AddButton>
        {beside}
      </div>
    </>
  );
}

/** Of rows that hold together there are several: of them one at least holds, or none. */
function Group(props: {
  title: string;
  word: string;
  of: readonly Row[][];
  list: FilterRowsProps['list'];
  prefix: string;
  onChange(groups: Row[][]): void;
}) {
  const { title, word, of, list, prefix, onChange } = props;
  const wrong = useFieldErrors(prefix, { is_exact: true });
  if (of.length === 0) return null;
  // The API counts those that are filled in.
  let filled = -1;
  return (
    <fieldset class="condition-group" name={prefix}>
      <legend class="field-label">{title}</legend>
      {of.map((rows, index) => {
        if (rows.some(isFilled)) filled += 1;
        return (
          <div key={rows[0]?.uid ?? index} class="condition-part">
            {index > 0 && <p class="muted">{word}</p>}
            <Rows
              of={rows}
              list={list}
              prefix={`${prefix}.${filled}.`}
              what={`${title.replace('And ', '')}, ${index + 1}:`}
              add="And"
              onChange={(changed) =>
                onChange(of.map((each) => (each === rows ? changed : each)).filter((each) => each.length > 0))
              }
            />
          </div>
        );
      })}
      <div>
        <AddButton onClick={() => onChange([...of, [newRow()]])}>Add another</AddButton>
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}

/** Whoever adds a row fills it in. */
function focusOn(field: HTMLElement | null): void {
  field?.focus();
}

function RowFields(props: {
  of: Row;
  /** Those that hold together with it. */
  others: readonly Row[];
  title: string;
  list: FilterRowsProps['list'];
  prefix: string;
  is_focused: boolean;
  onChange(changes: Partial<Row>): void;
  onRemove(): void;
}) {
  const { of, others, title, list, prefix, is_focused, onChange, onRemove } = props;
  const { field, kind } = relationOf(of.member);
  const relations = FIELDS.find(({ label }) => label === field)?.relations ?? [];
  const wrong = useFieldErrors(prefix + of.member);
  const ask = (member: Row['member']): void =>
    // A value stays where the other one is of the same kind.
    onChange({ member, ...(relationOf(member).kind !== kind && { value: '', name: '', days: '' }) });
  return (
    <fieldset class="condition">
      <legend class="hidden">{title}</legend>
      <select
        class="input"
        aria-label="What"
        ref={is_focused ? focusOn : undefined}
        value={field}
        onChange={(event) => {
          const chosen = FIELDS.find(({ label }) => label === event.currentTarget.value);
          const free = chosen?.relations.find(({ member }) => !isTaken(member, others));
          if (free) ask(free.member);
        }}
      >
        {FIELDS.map(({ label, relations: of_field }) => (
          <option
            key={label}
            disabled={label !== field && of_field.every(({ member }) => isTaken(member, others))}
          >
            {label}
          </option>
        ))}
      </select>
      {relations.length > 1 ? (
        <select
          class="input"
          aria-label="How"
          value={of.member}
          onChange={(event) => {
            const chosen = relations.find(({ member }) => member === event.currentTarget.value);
            if (chosen) ask(chosen.member);
          }}
        >
          {relations.map(({ member, label }) => (
            <option key={member} value={member} disabled={member !== of.member && isTaken(member, others)}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <span class="condition-how muted">{relations[0]?.label}</span>
      )}
      <div class={`condition-value${kind === 'tags' ? ' stacked' : ''}`}>
        <FilterValue
          kind={kind}
          of={of}
          list={list}
          name={prefix + of.member}
          is_wrong={wrong.length > 0}
          onChange={onChange}
        />
      </div>
      <button type="button" class="button quiet square" aria-label={`Remove: ${title}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}
