/** The tester: would a request from there be accepted with this key, and which rule says so, or why does none? */
import { useState } from 'preact/hooks';
import type { KeyVerdict } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Fields, optional } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Notice, Panel } from '../../components/page.tsx';
import type { KeyPartProps } from './detail.tsx';

const FIELDS = {
  origin: optional('Origin of a web page', { placeholder: 'https://shop.example.com', is_mono: true }),
  app_id: optional('Id of an app', { placeholder: 'com.example.shop', is_mono: true }),
  cert_fingerprint: optional('Certificate of the app', {
    hint: 'The fingerprint that it sends in X-Android-Cert, where a rule asks for one.',
    is_mono: true,
  }),
};

export function Why({ path }: Pick<KeyPartProps, 'path'>) {
  const [verdict, setVerdict] = useState<KeyVerdict | null>(null);
  const ask = async (entered: Entered): Promise<void> => {
    setVerdict(null);
    const body = entered.read(FIELDS);
    setVerdict(await call('POST /projects/{project}/api-keys/{apiKey}/why', { path, body }));
  };
  return (
    <Panel
      title="Would it be accepted?"
      lead="Try where a request comes from. With every field empty it comes from a server, which sends no origin."
    >
      <div class="stack">
        <Form is_fleeting is_for_readers submit="Try it" onSubmit={ask}>
          <Fields fields={FIELDS} />
        </Form>
        {verdict && (
          <Notice tone={verdict.accepted ? 'good' : 'bad'} role="status">
            <strong>{verdict.accepted ? 'Accepted.' : 'Refused.'}</strong> {verdict.why}
          </Notice>
        )}
      </div>
    </Panel>
  );
}
