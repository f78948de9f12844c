/** UTM parameters, which counted links gain: of broadcasts and sequences. */

import type { Broadcast } from '../../api.generated.ts';
import { Fields, optional } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';

type Utm = Broadcast['utm'];

const FIELDS = {
  source: optional('UTM source', { placeholder: 'newsletter', is_mono: true }),
  medium: optional('UTM medium', { placeholder: 'email', is_mono: true }),
  campaign: optional('UTM campaign', { placeholder: 'june', is_mono: true }),
  content: optional('UTM content', { placeholder: 'top', is_mono: true }),
};

export function UtmFields({ of }: { of: Utm | undefined }) {
  return (
    <details class="more" open={of != null}>
      <summary>UTM parameters of its links</summary>
      <p class="hint">
        For the statistics of your site. Links that are counted gain what they do not have yet; all others
        stay as they are written.
      </p>
      <div class="columns">
        <Fields fields={FIELDS} of={of} prefix="utm." />
      </div>
    </details>
  );
}

/** Null where all are empty. */
export function readUtm(entered: Entered): Utm {
  const given = entered.given(FIELDS, 'utm.');
  return Object.keys(given).length === 0 ? null : given;
}
