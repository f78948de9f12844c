/** The fields of the marketing settings, in four groups. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { MarketingSettings } from '../../api.generated.ts';
import { Field, type FieldProps } from '../../components/field.tsx';
import { area, check, Fields, mapped, number, optional, zone } from '../../components/fields.tsx';
import { Advanced } from '../../components/page.tsx';
import { LogoField } from './logo-field.tsx';
import { MailboxesField } from './mailboxes-field.tsx';

export const ENABLED = {
  enabled: check('Marketing is enabled', {
    hint: 'Where it is not, no sequence is activated, and what is due in those that run waits.',
  }),
};
const FROM_NAME = { from_name: optional('From name', { placeholder: 'Corner shop' }) };
export const REPLY_TO = {
  reply_to: optional('Reply to', { type: 'email', placeholder: 'hello@example.com' }),
};
const POSTAL_ADDRESS = {
  postal_address: area('Postal address', {
    rows: 3,
    placeholder: 'Corner shop\n1 High Street\nSpringfield',
    hint: 'Stands in the footer of each mail, as the law asks in most places.',
  }),
};
const BRAND_NAME = { brand_name: optional('Brand name') };
const WEB_SITE = {
  brand_website_url: optional('Web site', { type: 'url', placeholder: 'https://shop.example.com' }),
};
const VIEW_LINK = {
  view_link: check('Link to read it in the browser', {
    hint: 'The first line of the branded layout. In words of your own it is {{view_url}}.',
  }),
};
export const WINDOW = {
  send_window_start: optional('Window opens', {
    type: 'time',
    hint: 'Both ends empty: always. An end before the start crosses midnight.',
  }),
  send_window_end: optional('Window closes', { type: 'time' }),
  timezone: zone('Time zone'),
};
const TRACKING = {
  tracking: mapped<MarketingSettings['tracking'], boolean>(
    check('Count only with consent', {
      hint: 'Opens and clicks of those alone who allowed it, by a form or on the page of their choices. Else of all who did not refuse.',
    }),
    (tracking) => tracking === 'consented',
    (is_checked) => (is_checked ? 'consented' : 'all'),
  ),
};
export const DAILY_CAP = {
  daily_cap: number('Daily cap', {
    hint: 'Marketing mails of the project a day (UTC); the rest waits for the next. Empty: no cap.',
  }),
};
export const PAUSE_AT = {
  bounce_pause_threshold_percent: number('Pause at', {
    hint: "Percent of a sequence's last 100 mails that bounced or were complained about: it pauses by itself.",
  }),
};

/** What of the settings strangers see. */
export const LOOKS = {
  ...FROM_NAME,
  ...POSTAL_ADDRESS,
  ...BRAND_NAME,
  brand_color: optional('Brand colour'),
  brand_logo_url: optional('Logo'),
  ...WEB_SITE,
  ...VIEW_LINK,
  ...TRACKING,
};

export function SettingsFields({ project, settings }: { project: string; settings: MarketingSettings }) {
  return (
    <>
      <Fields fields={ENABLED} of={settings} />
      <Group title="Sender">
        <Fields fields={{ ...FROM_NAME, ...REPLY_TO, ...POSTAL_ADDRESS }} of={settings} />
        <MailboxesField project={project} settings={settings} />
      </Group>
      <Group title="Brand">
        <Fields fields={BRAND_NAME} of={settings} />
        <ColourField
          name="brand_color"
          label="Brand colour"
          value={settings.brand_color}
          placeholder="#1a73e8"
          hint="Of the buttons in the branded layout, and on the pages for confirming and unsubscribing."
        />
        <LogoField project={project} value={settings.brand_logo_url} />
        <Fields fields={{ ...WEB_SITE, ...VIEW_LINK }} of={settings} />
      </Group>
      <Group title="When, and how many">
        <Fields fields={{ ...WINDOW, ...TRACKING }} of={settings} />
        <Advanced>
          <Fields fields={{ ...DAILY_CAP, ...PAUSE_AT }} of={settings} />
        </Advanced>
      </Group>
    </>
  );
}

function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <fieldset class="group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

const HEX = /^#[0-9a-f]{6}$/i;

function ColourField(props: FieldProps & { value: string | null; placeholder: string }) {
  const { placeholder } = props;
  const [colour, setColour] = useState(props.value ?? '');
  const change = (event: { currentTarget: HTMLInputElement }): void => setColour(event.currentTarget.value);
  return (
    <Field {...props}>
      {(ties) => (
        <div class="colour">
          <input
            type="color"
            aria-label="Choose by eye"
            value={HEX.test(colour) ? colour : placeholder}
            onInput={change}
          />
          <input
            {...ties}
            class="input mono"
            value={colour}
            placeholder={placeholder}
            autocomplete="off"
            spellcheck={false}
            onInput={change}
          />
        </div>
      )}
    </Field>
  );
}
