/** One mailbox: how it is, a test, and its settings and end. */
import type { MailboxDetails } from '../../api.generated.ts';
import { Loaded, PageHeader } from '../../components/page.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { EventsPanel } from './events-panel.tsx';
import { Health } from './health.tsx';
import { MailboxSettings } from './mailbox-settings.tsx';
import { MailboxState } from './mailbox-state.tsx';
import { TestSend } from './test-send.tsx';

const TABS = { state: 'State', test: 'Send a test', settings: 'Settings' } as const;

export default function MailboxPage({ params }: PageProps<'address'>) {
  const load = useLoad('GET /mailboxes/{address}', { path: params }, { looks_again: true });
  const tab = useTab(['state', 'test', 'settings']);
  return (
    <>
      <PageHeader
        title={load.data?.address ?? params.address}
        back={{ href: hrefOf('/mailboxes'), label: 'Mailboxes' }}
        beside={load.data && <MailboxState of={load.data} />}
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => {
          const part = { of, etag: load.etag, onChange: load.reload };
          return (
            <div class="stack">
              {tab === 'state' && <Health {...part} />}
              {tab === 'state' && <EventsPanel {...part} />}
              {tab === 'test' && <TestSend of={of} onChange={load.reload} />}
              {tab === 'settings' && <MailboxSettings {...part} />}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** The props of each part of a mailbox's page. */
export interface MailboxPartProps {
  of: MailboxDetails;
  /** The version that is shown. */
  etag: string | null;
  onChange(): void;
}
