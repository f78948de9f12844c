/** Several rows of a list, chosen by their boxes and acted on by the endpoint of one. What fails stays chosen, with its reason. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { mayWrite } from '../capabilities.ts';
import type { Column } from './data-table.tsx';
import { counted } from './quantity.tsx';
import { tellError } from './refusal.ts';
import { toast } from './toast.tsx';

/** More would keep others waiting. */
const AT_ONCE = 4;

interface Choice<Row> {
  row: Row;
  /** Why the last act failed on it. */
  reason: string | null;
}

export interface Chosen<Row> {
  /** On every page of the list, whatever the filters are by now. */
  rows: readonly Row[];
  failed: readonly { name: string; reason: string }[];
  /** The boxes, for those who may act. */
  columns: readonly Column<Row>[];
  choose(rows: readonly Row[]): void;
  clear(): void;
  /** Does it to each. `done`: what is told of so many of them, such as `deleted`. */
  each(act: (row: Row) => Promise<unknown>, done: string): Promise<void>;
}

/** `one`: what a row is called, such as `file`. */
export function useChosen<Row>(of: {
  one: string;
  keyOf(row: Row): string;
  nameOf(row: Row): string;
  /** Called when some of them have changed. */
  onChange(): void;
}): Chosen<Row> {
  const { one, keyOf, nameOf, onChange } = of;
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice<Row>>>(new Map());
  const choose = (rows: readonly Row[]): void =>
    setChoices(
      (all) => new Map([...all, ...rows.map((row) => [keyOf(row), { row, reason: null }] as const)]),
    );
  const drop = (row: Row): void =>
    setChoices((all) => new Map([...all].filter(([key]) => key !== keyOf(row))));
  const each = async (act: (row: Row) => Promise<unknown>, done: string): Promise<void> => {
    const results = await doEach([...choices.values()], act);
    const failed = results.filter(({ reason }) => reason !== null);
    const worked = results.filter(({ reason }) => reason === null);
    const keys = new Set(worked.map(({ row }) => keyOf(row)));
    setChoices(
      (all) =>
        new Map([
          ...[...all].filter(([key]) => !keys.has(key)),
          ...failed.map((choice) => [keyOf(choice.row), choice] as const),
        ]),
    );
    if (worked.length > 0) toast(`${counted(worked.length, one)} ${done}`);
    onChange();
  };
  const column: Column<Row> = {
    title: 'Pick',
    is_number: true,
    cell: (row) => (
      <input
        type="checkbox"
        class="pick"
        aria-label={`Pick ${nameOf(row)}`}
        checked={choices.has(keyOf(row))}
        onChange={(event) => (event.currentTarget.checked ? choose([row]) : drop(row))}
      />
    ),
  };
  return {
    rows: [...choices.values()].map(({ row }) => row),
    failed: [...choices.values()].flatMap(({ row, reason }) =>
      reason === null ? [] : [{ name: nameOf(row), reason }],
    ),
    columns: mayWrite() ? [column] : [],
    choose,
    clear: () => setChoices(new Map()),
    each,
  };
}

async function doEach<Row>(
  choices: readonly Choice<Row>[],
  act: (row: Row) => Promise<unknown>,
): Promise<Choice<Row>[]> {
  const waiting = [...choices];
  const results: Choice<Row>[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { row } = next;
      const reason = await act(row).then(() => null, tellError);
      results.push({ row, reason });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Acts for the chosen rows, at the lower edge of the window, so that nothing above moves as they appear. */
export function ChosenBar<Row>(props: {
  chosen: Chosen<Row>;
  one: string;
  /** Those on this page of the list. */
  shown: readonly Row[];
  children: ComponentChildren;
}) {
  const { chosen, one, shown, children } = props;
  if (chosen.rows.length === 0) return null;
  return (
    <section class="chosen" aria-label="What is picked">
      {chosen.failed.length > 0 && (
        <div role="alert">
          <ul class="sentences">
            {chosen.failed.map(({ name, reason }) => (
              <li key={name}>
                {name}: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="row">
        <b>{counted(chosen.rows.length, one)} picked</b>
        {children}
        <button type="button" class="button quiet" onClick={() => chosen.choose(shown)}>
          Pick all shown
        </button>
        <button type="button" class="button quiet" onClick={chosen.clear}>
          Pick none
        </button>
      </div>
    </section>
  );
}
