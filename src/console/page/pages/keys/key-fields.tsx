/** The fields of a key, for making one and for changing it. */
import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ABILITIES, abilitiesOf } from './abilities.ts';

/** `children`: what a key that is made has beside where it may be used from. */
export function KeyFields({ of, children }: { of?: ApiKey; children?: ComponentChildren }) {
  const given: readonly string[] = of ? abilitiesOf(of) : [];
  return (
    <>
      <TextField
        name="name"
        label="Name"
        value={of?.name}
        placeholder="web server"
        hint="Where it is used: you will look for it by this name."
        is_focused={!of}
      />
      <fieldset class="field">
        <legend class="field-label">What it may do</legend>
        <div class="checks">
          {Object.entries(ABILITIES).map(([ability, [label, hint]]) => (
            <CheckField
              key={ability}
              name="can"
              value={ability}
              label={label}
              hint={hint}
              is_checked={given.includes(ability)}
            />
          ))}
        </div>
      </fieldset>
      <fieldset class="field">
        <legend class="field-label">Where from</legend>
        <div class="checks">
          <CheckField
            name="restricted"
            label="From certain origins only"
            hint="Web sites and apps that you name. Needed for a key that visitors of a page can see."
            is_checked={of?.restricted ?? false}
          />
          <CheckField
            name="allow_no_origin"
            label="Also from servers, which send no origin"
            is_checked={of?.allow_no_origin ?? false}
          />
        </div>
      </fieldset>
      {children}
      <TextField
        name="rate_limit_per_minute"
        label="Requests a minute"
        type="number"
        value={of?.rate_limit_per_minute}
        placeholder="600"
        hint="Empty: 600."
      />
      <TextField
        name="email_daily_limit"
        label="Mails a day"
        type="number"
        value={of?.email_daily_limit}
        hint="Days are UTC. Empty: no limit."
      />
    </>
  );
}
