/** Adding a sending domain. */
import { call } from '../../api.ts';
import { check, Fields, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Advanced, PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';

const NAME = {
  name: text('Domain', {
    placeholder: 'mail.example.com',
    hint: 'What stands behind the @ of its addresses. A subdomain keeps the reputation of your main domain out of it.',
    is_mono: true,
  }),
};
const ADVANCED = {
  is_default: check('Make it the default', {
    hint: 'Mail that names no domain goes out from the default. The first domain is the default anyway.',
  }),
  is_trusted: check('Use it without looking its records up', {
    hint: 'If you know better than the DNS that this machine sees. Receivers check the records all the same.',
  }),
};

export default function NewDomainPage() {
  const add = async (entered: Entered): Promise<void> => {
    const { name } = await call('POST /sending-domains', {
      body: entered.read({ ...NAME, ...ADVANCED }),
    });
    toast(`${name} is added. These are the records to publish`);
    navigate(to`/sending-domains/${name}`);
  };
  return (
    <>
      <PageHeader
        title="Add a domain"
        back={{ href: hrefOf('/sending-domains'), label: 'Sending domains' }}
        lead="The next page has the DNS records to publish."
      />
      <Panel>
        <Form submit="Add the domain" onSubmit={add} onCancel={() => navigate('/sending-domains')}>
          <Fields fields={NAME} is_focused />
          <Advanced>
            <Fields fields={ADVANCED} />
          </Advanced>
        </Form>
      </Panel>
    </>
  );
}
