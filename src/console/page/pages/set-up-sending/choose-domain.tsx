/** The first page: keep the mail here for now, in one click, or name the domain that it goes out from. */
import { ApiError, call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate } from '../../router.ts';
import { useAll } from '../../use-load.ts';
import { DomainState } from '../sending-domains/domain-state.tsx';
import { wayToSetUp } from './next.ts';

/** RFC 2606 keeps `.test` for this: nobody has mail there. */
const CAPTURE_DOMAIN = 'capture.test';
const CAPTURE_ADDRESS = `hello@${CAPTURE_DOMAIN}`;

export function ChooseDomain({ next }: { next: string | null }) {
  const domains = useAll('GET /sending-domains', {});
  const mailboxes = useAll('GET /mailboxes', {});
  return (
    <Loaded load={domains}>
      {(all) => {
        const own = all.filter(({ name }) => !isForTests(name));
        return (
          <div class="stack">
            {mailboxes.data?.length === 0 && <Capture next={next} />}
            <Panel
              title="Send real mail"
              lead="You need a domain whose DNS you can change, and an account at a provider that relays mail, or a mail server of your own."
            >
              <div class="stack">
                {own.length > 0 && (
                  <ul class="told" aria-label="Go on with a domain">
                    {own.map((domain) => (
                      <li key={domain.name}>
                        <a href={hrefOf(wayToSetUp(next, domain.name))}>{domain.name}</a>{' '}
                        <DomainState of={domain} />
                      </li>
                    ))}
                  </ul>
                )}
                <NewDomain next={next} is_first={own.length === 0} />
              </div>
            </Panel>
          </div>
        );
      }}
    </Loaded>
  );
}

function Capture({ next }: { next: string | null }) {
  const capture = async (): Promise<void> => {
    await unlessThere(
      call('POST /sending-domains', { body: { name: CAPTURE_DOMAIN, is_trusted: true, is_default: true } }),
    );
    await unlessThere(
      call('POST /mailboxes', {
        body: { address: CAPTURE_ADDRESS, capture: true, for: ['transactional', 'marketing'] },
      }),
    );
    toast('Mail is kept here, and sent to nobody');
    navigate(next ?? '/mailboxes');
  };
  return (
    <Panel
      title="Try it first"
      lead="Mail is made as it would be sent and kept in the mail log, to look at. Nobody gets any. Real sending can be set up later."
    >
      <div>
        <ActionButton kind="primary" act={capture}>
          Keep the mail here
        </ActionButton>
      </div>
    </Panel>
  );
}

function NewDomain({ next, is_first }: { next: string | null; is_first: boolean }) {
  const add = async (entered: Entered): Promise<void> => {
    // It becomes the default by itself once it can send: until then mail is kept, and not refused.
    const { name } = await call('POST /sending-domains', { body: { name: entered.text('name') } });
    navigate(wayToSetUp(next, name));
  };
  return (
    <Form submit="Go on with this domain" onSubmit={add}>
      <TextField
        name="name"
        label={is_first ? 'Domain' : 'Another domain'}
        placeholder="mail.example.com"
        hint="What stands behind the @ of its addresses. A subdomain keeps the reputation of your main domain out of it."
        is_mono
      />
    </Form>
  );
}

function isForTests(name: string): boolean {
  return name.endsWith('.test');
}

async function unlessThere(making: Promise<unknown>): Promise<void> {
  try {
    await making;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}
