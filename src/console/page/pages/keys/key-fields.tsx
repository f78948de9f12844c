/** The fields of a key, for making one and for changing it: what it is for, and the rest folded away. */
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api.generated.ts';
import { askFirst } from '../../components/ask-first.tsx';
import { CheckField, ChecksField, check, Fields, lines, number, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { OptionsField } from '../../components/options-field.tsx';
import { Advanced } from '../../components/page.tsx';
import { ABILITIES, abilitiesOf } from './abilities.ts';
import { PRESETS, type PresetName, presetOf } from './presets.ts';

export const NAME = {
  name: text('Name', {
    placeholder: 'web server',
    hint: 'Where it is used: you will look for it by this name.',
  }),
};
export const ORIGINS = {
  origins: {
    ...lines('Origins', {
      placeholder: 'https://shop.example.com\nhttps://*.example.org',
      hint: "The web sites that it stands in, one on each line. Apps are added on the key's page.",
      is_mono: true,
    }),
    read: (entered: Entered, name: string) => entered.words(name),
  },
};
export const LIMITS = {
  rate_limit_per_minute: number('Requests a minute', { placeholder: '600', hint: 'Empty: 600.' }),
  email_daily_limit: number('Mails a day', { hint: 'Days are UTC. Empty: no limit.' }),
};
export const TEST = {
  is_test: check('For tests', { hint: 'Mail that is sent with it is kept here instead of being delivered.' }),
};

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
      <Fields fields={NAME} of={of} is_focused={!of} />
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
      {!of && is_restricted && <Fields fields={ORIGINS} />}
      <Advanced is_set={preset === 'other' || has_limits}>
        <ChecksField
          key={`can ${preset}`}
          name="can"
          label="What it may do"
          choices={Object.entries(ABILITIES).map(([ability, [label, hint]]) => [ability, label, hint])}
          value={given}
        />
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
        <Fields fields={LIMITS} of={of} />
        {!of && <Fields fields={TEST} />}
      </Advanced>
    </>
  );
}

interface Asked {
  restricted: boolean;
  allow_no_origin: boolean;
  /** Of its own. */
  origins: number;
  /** Made for pages and apps, whatever was ticked. */
  is_for_pages: boolean;
  /** Of the button that goes on: "Create". */
  act: string;
}

/** Throws Declined. */
export async function askAboutOrigins({ restricted, allow_no_origin, origins, is_for_pages, act }: Asked) {
  if (restricted && origins === 0 && !allow_no_origin)
    await askFirst({
      title: 'Without an origin?',
      submit: `${act} it without an origin`,
      decline: 'Name one first',
      told: <p>The key is refused to every page and app, until you name one that may use it.</p>,
    });
  if (!restricted && is_for_pages)
    await askFirst({
      title: 'From anywhere?',
      submit: `${act} it for anywhere`,
      decline: 'Restrict it',
      tone: 'bad',
      told: (
        <p>
          Every visitor of a page can read the key that stands in it, and could use it from wherever they
          like.
        </p>
      ),
    });
}
