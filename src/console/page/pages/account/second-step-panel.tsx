/** The second step of signing in: turned on with a QR code and proven with a code, turned off with the password. */
import { useState } from 'preact/hooks';
import { encode } from 'uqr';
import { call } from '../../api.ts';
import { saveFile } from '../../components/button-link.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fields, password, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import { loadSession, person } from '../../session.ts';

export function SecondStepPanel({ is_on, codes_left }: { is_on: boolean; codes_left: number }) {
  const [is_open, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <Panel
      title="Second step"
      lead="Signing in takes a code of an app on your telephone too, so that your password alone lets nobody in."
      actions={<Status of={is_on ? 'on' : 'off'} tone={is_on ? 'good' : 'neutral'} />}
    >
      <div class="row">
        <button type="button" class={`button${is_on ? ' bad' : ''}`} onClick={() => setOpen(true)}>
          {is_on ? 'Turn the second step off' : 'Turn the second step on'}
        </button>
        {is_on && <span class="muted">{counted(codes_left, 'recovery code')} left</span>}
      </div>
      {is_open && (is_on ? <TurnOff onClose={close} /> : <TurnOn onClose={close} />)}
    </Panel>
  );
}

const PASSWORD = { password: password('Password', { autocomplete: 'current-password' }) };
const code = { autocomplete: 'one-time-code', is_mono: true } as const;
const CODE = { code: text('Code', code) };
const CODE_OR_RECOVERY = { code: text('Code', { ...code, hint: 'Or a recovery code.' }) };

function TurnOff({ onClose }: { onClose(): void }) {
  const turnOff = async (entered: Entered): Promise<void> => {
    await call('DELETE /console/totp', {
      body: entered.read({ ...PASSWORD, ...CODE }),
    });
    await loadSession();
    toast('The second step is off');
    onClose();
  };
  return (
    <Dialog title="Turn the second step off?" onClose={onClose}>
      <p>From then on your password alone lets you in. The recovery codes are void.</p>
      <Form is_fleeting is_for_readers submit="Turn it off" tone="bad" onSubmit={turnOff} onCancel={onClose}>
        <Fields fields={{ ...PASSWORD, ...CODE_OR_RECOVERY }} is_focused />
      </Form>
    </Dialog>
  );
}

type Stage =
  | { name: 'password' }
  | { name: 'code'; secret: string; uri: string }
  | { name: 'codes'; codes: readonly string[] };

function TurnOn({ onClose }: { onClose(): void }) {
  const [stage, setStage] = useState<Stage>({ name: 'password' });
  const ask = async (entered: Entered): Promise<void> => {
    const offer = await call('POST /console/totp', { body: entered.read(PASSWORD) });
    setStage({ name: 'code', ...offer });
  };
  const prove = async (entered: Entered): Promise<void> => {
    const { recovery_codes } = await call('PUT /console/totp', { body: entered.read(CODE) });
    setStage({ name: 'codes', codes: recovery_codes });
  };
  const finish = (): void => {
    // Whoever is told only now that it is on has seen the codes.
    void loadSession();
    onClose();
  };
  if (stage.name === 'codes') return <RecoveryCodes codes={stage.codes} onDone={finish} />;
  return (
    <Dialog title="Turn the second step on" onClose={onClose}>
      {stage.name === 'password' ? (
        <Form is_fleeting is_for_readers key="password" submit="Go on" onSubmit={ask} onCancel={onClose}>
          <Fields fields={PASSWORD} is_focused />
        </Form>
      ) : (
        <>
          <p>Read this with an authenticator app, then enter the code that it shows.</p>
          <Qr text={stage.uri} label="QR code of the secret, which stands below as text" />
          <div class="secret">
            <code>{stage.secret}</code>
            <CopyButton text={stage.secret} label="Copy the secret" />
          </div>
          <Form is_fleeting is_for_readers key="code" submit="Turn it on" onSubmit={prove} onCancel={onClose}>
            <Fields fields={CODE} is_focused />
          </Form>
        </>
      )}
    </Dialog>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const download = (): void => {
    const head = `Recovery codes of ${person.value?.email} for Satchel at ${location.host}: each is good once.`;
    saveFile(
      new Blob([[head, '', ...codes, ''].join('\n')], { type: 'text/plain' }),
      'satchel-recovery-codes.txt',
    );
  };
  return (
    <Dialog title="Your recovery codes" onClose={onDone}>
      <p>
        Each lets you in once without your telephone. They are shown this once: keep them where the telephone
        is not.
      </p>
      <div class="secret">
        <code class="codes">
          {codes.map((code) => (
            <span key={code}>{code}</span>
          ))}
        </code>
        <CopyButton text={codes.join('\n')} label="Copy the codes" />
      </div>
      <div class="form-buttons">
        <button type="button" class="button primary" onClick={onDone}>
          I have kept them
        </button>
        <button type="button" class="button" onClick={download}>
          Download as a file
        </button>
      </div>
    </Dialog>
  );
}

/** A text as a QR code, to be read by a telephone. */
function Qr({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const path = data
    .flatMap((row, y) => row.map((is_dark, x) => (is_dark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}
