/** Settings for an app that sends by SMTP with a key. */
import type { SmtpAccess } from '../../api.generated.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts, Loaded, Panel } from '../../components/page.tsx';
import { useLoad } from '../../use-load.ts';
import type { KeyPartProps } from './detail.tsx';

const TLS: Readonly<Record<SmtpAccess['tls'], string>> = {
  tls: 'TLS from the first byte (SSL/TLS)',
  starttls: 'STARTTLS',
  none: 'none',
};

export function KeySmtp({ path, of }: Pick<KeyPartProps, 'path' | 'of'>) {
  const load = useLoad('GET /projects/{project}/api-keys/{apiKey}/smtp', { path });
  const needs_origin = of.restricted && !of.allow_no_origin;
  return (
    <Panel title="Mail by SMTP" lead="For apps that speak SMTP and nothing else. Their password is this key.">
      <Loaded load={load}>
        {({ smtp }) =>
          smtp === null ? (
            <p class="muted">
              No SMTP server is set: <code>SATCHEL_SMTP_PORT</code> or <code>SATCHEL_SMTPS_PORT</code> in the
              settings of the server opens one.
            </p>
          ) : (
            <div class="stack">
              {needs_origin && (
                <p class="muted">
                  An app that speaks SMTP sends no origin: allow requests without one, or it is refused.
                </p>
              )}
              <Facts
                of={[
                  ['Host', <Copied key="host" name="host" text={smtp.host} />],
                  ['Port', <Copied key="port" name="port" text={String(smtp.port)} />],
                  ['TLS', TLS[smtp.tls]],
                  ['User', <Copied key="user" name="user" text={smtp.user} />],
                ]}
              />
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Copied({ name, text }: { name: string; text: string }) {
  return (
    <span class="row">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy the ${name}`} />
    </span>
  );
}
