/** A project's marketing settings, and what is missing before a sequence can be activated. */
import type { MarketingSettings } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { useLoad } from '../../use-load.ts';
import { Readiness } from './readiness.tsx';
import { DAILY_CAP, ENABLED, LOOKS, PAUSE_AT, REPLY_TO, SettingsFields, WINDOW } from './settings-fields.tsx';
import { BesideForm, Strangers } from './strangers.tsx';

const ENDPOINT = 'GET /projects/{project}/email-marketing/settings';

export default function MarketingSettingsPage({ params }: PageProps<'project'>) {
  const load = useLoad(ENDPOINT, { path: params });
  // Looking names up takes its time: the form does not wait for it.
  const checked = useLoad(ENDPOINT, { path: params, query: { dns: true } });
  const changed = (): void => {
    load.reload();
    checked.reload();
  };
  return (
    <>
      <PageHeader
        title="Marketing settings"
        lead="Who the project's marketing mails come from, how they look, and when and how many may go out."
      />
      <div class="stack">
        <Readiness load={checked} />
        <Loaded load={load}>
          {(settings) => (
            <ChangeForm project={params.project} settings={settings} etag={load.etag} onChange={changed} />
          )}
        </Loaded>
      </div>
    </>
  );
}

interface ChangeFormProps {
  project: string;
  settings: MarketingSettings;
  /** The version that was read. */
  etag: string | null;
  onChange(): void;
}

function ChangeForm({ project, settings, etag, onChange }: ChangeFormProps) {
  // Of one that asks, so that its mail can be seen here too.
  const lists = useLoad('GET /projects/{project}/email-lists', { path: { project } });
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/email-marketing/settings', {
      path: { project },
      if_match: entered.version,
      body: {
        ...entered.read({ ...ENABLED, ...LOOKS, ...REPLY_TO, ...WINDOW, ...DAILY_CAP }),
        ...entered.given(PAUSE_AT),
        accounts: entered.all('accounts').flatMap((typed) => typed.split(/[\s,]+/).filter(Boolean)),
      },
    });
    toast('The settings are saved');
    onChange();
  };
  return (
    <BesideForm
      form={
        <Panel title="Settings">
          <Form is_wide submit="Save the settings" version={etag} onSubmit={change}>
            <SettingsFields project={project} settings={settings} />
          </Form>
        </Panel>
      }
      beside={(entered) => (
        <Strangers
          project={project}
          first="newsletter"
          list={lists.data?.data.find(({ confirmation_template }) => confirmation_template !== null)?.id}
          typed={entered && { settings: entered.read(LOOKS) }}
        />
      )}
    />
  );
}
