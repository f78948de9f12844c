/** The fields of a key, for making one and for changing it: what it is for, and the rest folded away. */
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api.generated.ts';
import { Advanced } from '../../components/advanced.tsx';
import { CheckField } from '../../components/check-field.tsx';
import { OptionsField } from '../../components/options-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ABILITIES, abilitiesOf } from './abilities.ts';
import { PRESETS, type PresetName, presetOf } from './presets.ts';

/** Of one that is there, what it is made for is told by what it may do. */
export function KeyFields({ of }: { of?: ApiKey }) {
  const [preset, setPreset] = useState<PresetName>(of ? presetOf(of) : 'server');
  const [is_restricted, setRestricted] = useState(of?.restricted ?? false);
  const { can, is_restricted: is_for_pages } = PRESETS[preset];
  const given: readonly string[] = of && preset === presetOf(of) ? abilitiesOf(of) : can;
  const choose = (name: PresetName): void => {
    setPreset(name);
    setRestricted(name === 'other' ? is_restricted : PRESETS[name].is_restricted);
  };
  const has_limits = of !== undefined && (of.rate_limit_per_minute !== null || of.email_daily_limit !== null);
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
      <OptionsField
        name="preset"
        label="Made for"
        value={preset}
        onChange={choose}
        options={Object.entries(PRESETS).map(([value, { label, says }]) => ({
          value: value as PresetName,
          label,
          says,
        }))}
      />
      {!of && is_restricted && (
        <TextAreaField
          name="origins"
          label="Origins"
          rows={2}
          placeholder={'https://shop.example.com\nhttps://*.example.org'}
          hint="The web sites that it stands in, one on each line. Apps are added on the key's page."
          is_mono
        />
      )}
      <Advanced is_set={preset === 'other' || has_limits}>
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
        <fieldset class="field" key={`from ${is_for_pages}`}>
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
        <LimitFields of={of} />
      </Advanced>
    </>
  );
}

function LimitFields({ of }: { of: ApiKey | undefined }) {
  return (
    <>
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
      {!of && (
        <CheckField
          name="is_test"
          label="For tests"
          hint="Mail that is sent with it is kept here instead of being delivered."
        />
      )}
    </>
  );
}
