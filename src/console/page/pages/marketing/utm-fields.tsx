/** UTM parameters, which counted links gain: of broadcasts and sequences. */
import type { Broadcast } from '../../api.generated.ts';
import type { Entered } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';

type Utm = Broadcast['utm'];

const FIELDS = [
  ['source', 'Source', 'newsletter'],
  ['medium', 'Medium', 'email'],
  ['campaign', 'Campaign', 'june'],
  ['content', 'Content', 'top'],
] as const;

export function UtmFields({ of }: { of: Utm | undefined }) {
  return (
    <details class="more" open={of != null}>
      <summary>UTM parameters of its links</summary>
      <p class="hint">
        For the statistics of your site. Links that are counted gain what they do not have yet; all others
        stay as they are written.
      </p>
      <div class="columns">
        {FIELDS.map(([name, label, placeholder]) => (
          <TextField
            key={name}
            name={`utm.${name}`}
            label={`UTM ${label.toLowerCase()}`}
            value={of?.[name]}
            placeholder={placeholder}
            is_mono
          />
        ))}
      </div>
    </details>
  );
}

/** Null where all are empty. */
export function readUtm(entered: Entered): Utm {
  const given = FIELDS.flatMap(([name]) => {
    const value = entered.text(`utm.${name}`);
    return value === '' ? [] : [[name, value] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}
