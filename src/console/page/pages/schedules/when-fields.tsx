/** Asks when a schedule runs, as people say it, in a time zone, and shows the next runs as one chooses. */
import { useState } from 'preact/hooks';
import { SelectField, ZoneField } from '../../components/fields.tsx';
import { useFieldErrors } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';
import { CADENCES, type Cadence, expressionOf, readCadence, tellCadence, WEEK, WEEKDAYS } from './cadence.ts';
import { RunList } from './overview.tsx';

export function WhenFields(props: { project: string; expression: string | undefined; timezone: string }) {
  const [cadence, setCadence] = useState(() => readCadence(props.expression));
  const [timezone, setTimezone] = useState(props.timezone);
  const { every } = cadence;
  const change = (changes: Partial<Cadence>): void => setCadence((last) => ({ ...last, ...changes }));
  const choose = (value: string): void => {
    const chosen = CADENCES.find(([each]) => each === value)?.[0] ?? 'custom';
    // Whoever goes on by an expression begins with the one that they had in words.
    change({ every: chosen, ...(chosen === 'custom' && { custom: expressionOf(cadence) }) });
  };
  const expression = expressionOf(cadence);
  return (
    <fieldset class="group">
      <legend>When</legend>
      <SelectField name="every" label="It runs" choices={CADENCES} value={every} onChange={choose} />
      {every === 'custom' ? (
        <TextField
          name="cron_expression"
          label="Cron expression"
          value={cadence.custom}
          placeholder="0 9 * * 1"
          hint="Minute, hour, day of the month, month, day of the week: 0 9 * * 1 is Mondays at nine."
          is_mono
          onInput={(custom) => change({ custom })}
        />
      ) : (
        <TextField
          key={every === 'hour' ? 'minute' : 'time'}
          name="time"
          label={every === 'hour' ? 'Minutes past the hour' : 'At'}
          type={every === 'hour' ? 'number' : 'time'}
          value={every === 'hour' ? Number(cadence.time.slice(3)) : cadence.time}
          onInput={(typed) => change({ time: every === 'hour' ? `00:${typed.padStart(2, '0')}` : typed })}
        />
      )}
      {every === 'week' && <Weekdays of={cadence.weekdays} onChange={(weekdays) => change({ weekdays })} />}
      {every === 'month' && (
        <TextField
          name="month_day"
          label="On day"
          type="number"
          value={cadence.month_day}
          hint="1 to 31. Months that have no such day are left out."
          onInput={(typed) => change({ month_day: Number(typed) })}
        />
      )}
      <ZoneField name="timezone" label="Time zone" value={props.timezone} onInput={setTimezone} />
      {every !== 'custom' && <input type="hidden" name="cron_expression" value={expression} />}
      <Foreseen
        has_field={every === 'custom'}
        project={props.project}
        expression={expression}
        timezone={timezone.trim() || 'UTC'}
      />
    </fieldset>
  );
}

function Weekdays({ of, onChange }: { of: readonly number[]; onChange(days: number[]): void }) {
  return (
    <fieldset class="field">
      <legend class="field-label">On</legend>
      <div class="row">
        {WEEK.map((day) => (
          <label key={day} class="toggle">
            <input
              type="checkbox"
              checked={of.includes(day)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? [...of, day] : of.filter((each) => each !== day))
              }
            />
            {WEEKDAYS[day]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Shows the next runs once the typing has rested, or why there are none. */
function Foreseen(props: {
  project: string;
  expression: string;
  timezone: string;
  /** True where what is refused stands beside a field. */
  has_field: boolean;
}) {
  const { project } = props;
  const { expression, timezone } = useRested({ expression: props.expression, timezone: props.timezone });
  const wrong = useFieldErrors('cron_expression');
  const load = useLoad(
    'GET /projects/{project}/email-schedule-runs',
    expression === '' ? null : { path: { project }, query: { cron_expression: expression, timezone } },
  );
  return (
    <div class="foreseen" role="status">
      {!props.has_field && wrong.length > 0 && <p class="wrong">When it runs: {wrong.join(' ')}</p>}
      <p class="strong">
        {expression === '' ? 'Say when it runs' : (tellCadence(expression) ?? 'It runs next')}
      </p>
      {load.error && (
        <p class="muted">{Object.values(load.error.errors).flat().join(' ') || load.error.message}</p>
      )}
      {!load.error && expression !== '' && load.data && (
        <RunList timezone={timezone} runs={load.data.next_runs} />
      )}
    </div>
  );
}
