/** The fields of a key, for making one and for changing it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ABILITIES, abilitiesOf } from './abilities.ts';
import { PRESETS, presetOf } from './presets.ts';

/** `children`: what stands below where it may be used from, of a key that is restricted. */
export function KeyFields({ of, children }: { of?: ApiKey; children?: ComponentChildren }) {
  const [preset, setPreset] = useState('');
  const [is_restricted, setRestricted] = useState(of?.restricted ?? false);
  const chosen = presetOf(preset);
  const given: readonly string[] = chosen?.can ?? (of ? abilitiesOf(of) : []);
  const choose = (name: string): void => {
    setPreset(name);
    setRestricted(presetOf(name)?.is_restricted ?? false);
  };
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
      {!of && (
        <SelectField
          name="preset"
          label="Made for"
          choices={[
            ['', 'Something else'],
            ...Object.entries(PRESETS).map(([name, { label }]) => [name, label] as const),
          ]}
          value={preset}
          onChange={choose}
          hint={chosen?.hint ?? 'Ticks what such a key needs; change it as you like.'}
        />
      )}
      <fieldset class="field" key={`can ${preset}`}>
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
      <fieldset class="field" key={`from ${preset}`}>
        <legend class="field-label">Where from</legend>
        <div class="checks">
          <CheckField
            name="restricted"
            label="From certain origins only"
            hint="Web sites and apps that you name. Needed for a key that visitors of a page can see."
            is_checked={is_restricted}
            onChange={setRestricted}
          />
          <CheckField
            name="allow_no_origin"
            label="Also from servers, which send no origin"
            is_checked={of?.allow_no_origin ?? false}
          />
        </div>
      </fieldset>
      {is_restricted && children}
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
