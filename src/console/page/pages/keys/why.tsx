/** The tester: would a request from there be accepted with this key, and which rule says so, or why does none? */
import { useState } from 'preact/hooks';
import type { KeyVerdict } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import type { KeyPartProps } from './key-part.ts';

export function Why({ path }: Pick<KeyPartProps, 'path'>) {
  const [verdict, setVerdict] = useState<KeyVerdict | null>(null);
  const ask = async (entered: Entered): Promise<void> => {
    setVerdict(null);
    const body = {
      origin: entered.textOrNull('origin'),
      app_id: entered.textOrNull('app_id'),
      cert_fingerprint: entered.textOrNull('cert_fingerprint'),
    };
    setVerdict(await call('POST /projects/{project}/api-keys/{apiKey}/why', { path, body }));
  };
  return (
    <Panel
      title="Would it be accepted?"
      lead="Try where a request comes from. With every field empty it comes from a server, which sends no origin."
    >
      <div class="stack">
        <Form is_fleeting is_for_readers submit="Try it" onSubmit={ask}>
          <TextField
            name="origin"
            label="Origin of a web page"
            placeholder="https://shop.example.com"
            is_mono
          />
          <TextField name="app_id" label="Id of an app" placeholder="com.example.shop" is_mono />
          <TextField
            name="cert_fingerprint"
            label="Certificate of the app"
            hint="The fingerprint that it sends in X-Android-Cert, where a rule asks for one."
            is_mono
          />
        </Form>
        {verdict && (
          <div class={`notice ${verdict.accepted ? 'good' : 'bad'}`} role="status">
            <p>
              <strong>{verdict.accepted ? 'Accepted.' : 'Refused.'}</strong> {verdict.why}
            </p>
          </div>
        )}
      </div>
    </Panel>
  );
}
