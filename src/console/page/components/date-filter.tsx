/** A day as a filter in the address, as the moment at which it begins for whoever looks; `is_end`: at which it is over. */
import { setQuery, useQuery } from '../router.ts';

const DAY_MS = 86_400_000;

export function DateFilter(props: { name: string; label: string; is_end?: boolean }) {
  const { name, label, is_end = false } = props;
  const now = useQuery().get(name);
  const choose = (day: string): void => {
    const begin = day === '' ? null : new Date(`${day}T00:00`);
    // The next day's beginning, which is 23 or 25 hours later where the clocks change.
    if (begin && is_end) begin.setDate(begin.getDate() + 1);
    setQuery({ [name]: begin?.toISOString() ?? '' });
  };
  return (
    <label class="date-filter">
      <span class="muted">{label}</span>
      <input
        class="input"
        type="date"
        value={now === null ? '' : dayOf(Date.parse(now) - (is_end ? DAY_MS / 2 : 0))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </label>
  );
}

function dayOf(at_ms: number): string {
  if (!Number.isFinite(at_ms)) return '';
  const at = new Date(at_ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
