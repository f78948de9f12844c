/** A day as a filter in the address, as the moment at which it begins for whoever looks; `is_end`: at which it is over. */
import { setQuery, useQuery } from '../router.ts';

const DAY_MS = 86_400_000;

export function DateFilter(props: { name: string; label: string; is_end?: boolean }) {
  const { name, label, is_end = false } = props;
  const now = useQuery().get(name);
  const choose = (day: string): void => setQuery({ [name]: momentOf(day, is_end) });
  return (
    <label class="date-filter">
      <span class="muted">{label}</span>
      <input
        class="input"
        type="date"
        value={now === null ? '' : dayOf(now, is_end)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </label>
  );
}

/** The moment at which a day begins, or with `is_end` is over, for whoever looks; '' for none. */
export function momentOf(day: string, is_end = false): string {
  const at = new Date(`${day}T00:00`);
  if (!Number.isFinite(at.getTime())) return '';
  // The next day's beginning, which is 23 or 25 hours later where the clocks change.
  if (is_end) at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The day of such a moment, as a date field has it; '' for what is none. */
export function dayOf(moment: string, is_end = false): string {
  const at_ms = Date.parse(moment) - (is_end ? DAY_MS / 2 : 0);
  if (!Number.isFinite(at_ms)) return '';
  const at = new Date(at_ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
