/** Adding a sending domain. */
import { call } from '../../api.ts';
import { Advanced } from '../../components/advanced.tsx';
import { CheckField } from '../../components/check-field.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';

export default function NewDomainPage() {
  const add = async (entered: Entered): Promise<void> => {
    const { name } = await call('POST /sending-domains', {
      body: {
        name: entered.text('name'),
        is_default: entered.flag('is_default'),
        is_trusted: entered.flag('is_trusted'),
      },
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
          <TextField
            name="name"
            label="Domain"
            placeholder="mail.example.com"
            hint="What stands behind the @ of its addresses. A subdomain keeps the reputation of your main domain out of it."
            is_focused
            is_mono
          />
          <Advanced>
            <CheckField
              name="is_default"
              label="Make it the default"
              hint="Mail that names no domain goes out from the default. The first domain is the default anyway."
            />
            <CheckField
              name="is_trusted"
              label="Use it without looking its records up"
              hint="If you know better than the DNS that this machine sees. Receivers check the records all the same."
            />
          </Advanced>
        </Form>
      </Panel>
    </>
  );
}
