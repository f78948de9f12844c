/** The fields of the marketing settings, in four groups. */
import type { ComponentChildren } from 'preact';
import type { MarketingSettings } from '../../api.generated.ts';
import { Advanced } from '../../components/advanced.tsx';
import { CheckField } from '../../components/check-field.tsx';
import { ColourField } from '../../components/colour-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ZoneField } from '../../components/zone-field.tsx';
import { LogoField } from './logo-field.tsx';
import { MailboxesField } from './mailboxes-field.tsx';

export function SettingsFields({ project, settings }: { project: string; settings: MarketingSettings }) {
  return (
    <>
      <CheckField
        name="enabled"
        label="Marketing is enabled"
        is_checked={settings.enabled}
        hint="Where it is not, no sequence is activated, and what is due in those that run waits."
      />
      <Sender project={project} settings={settings} />
      <Brand project={project} settings={settings} />
      <Timing settings={settings} />
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

function Sender({ project, settings }: { project: string; settings: MarketingSettings }) {
  return (
    <Group title="Sender">
      <TextField name="from_name" label="From name" value={settings.from_name} placeholder="Corner shop" />
      <TextField
        name="reply_to"
        label="Reply to"
        type="email"
        value={settings.reply_to}
        placeholder="hello@example.com"
      />
      <TextAreaField
        name="postal_address"
        label="Postal address"
        value={settings.postal_address}
        rows={3}
        placeholder={'Corner shop\n1 High Street\nSpringfield'}
        hint="Stands in the footer of each mail, as the law asks in most places."
      />
      <MailboxesField project={project} settings={settings} />
    </Group>
  );
}

function Brand({ project, settings }: { project: string; settings: MarketingSettings }) {
  return (
    <Group title="Brand">
      <TextField name="brand_name" label="Brand name" value={settings.brand_name} />
      <ColourField
        name="brand_color"
        label="Brand colour"
        value={settings.brand_color}
        placeholder="#1a73e8"
        hint="Of the buttons in the branded layout, and on the pages for confirming and unsubscribing."
      />
      <LogoField project={project} value={settings.brand_logo_url} />
      <TextField
        name="brand_website_url"
        label="Web site"
        type="url"
        value={settings.brand_website_url}
        placeholder="https://shop.example.com"
      />
    </Group>
  );
}

function Timing({ settings }: { settings: MarketingSettings }) {
  return (
    <Group title="When, and how many">
      <TextField
        name="send_window_start"
        label="Window opens"
        type="time"
        value={settings.send_window_start}
        hint="Both ends empty: always. An end before the start crosses midnight."
      />
      <TextField name="send_window_end" label="Window closes" type="time" value={settings.send_window_end} />
      <ZoneField name="timezone" label="Time zone" value={settings.timezone} />
      <CheckField
        name="tracking"
        label="Count only with consent"
        is_checked={settings.tracking === 'consented'}
        hint="Opens and clicks of those alone who allowed it, by a form or on the page of their choices. Else of all who did not refuse."
      />
      <Advanced>
        <TextField
          name="daily_cap"
          label="Daily cap"
          type="number"
          value={settings.daily_cap}
          hint="Marketing mails of the project a day (UTC); the rest waits for the next. Empty: no cap."
        />
        <TextField
          name="bounce_pause_threshold_percent"
          label="Pause at"
          type="number"
          value={settings.bounce_pause_threshold_percent}
          hint="Percent of a sequence's last 100 mails that bounced or were complained about: it pauses by itself."
        />
      </Advanced>
    </Group>
  );
}
