/** An authenticator without a device: it makes passkeys (ES256) and signs with them, rightly or as a test has it go wrong. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Wrong {
  origin?: string;
  rp_id?: string;
  type?: string;
  challenge?: string;
  user_handle?: string | undefined;
  /** Of authenticator data: present 1, verified 4. */
  flags?: number;
  counter?: number;
}

const PRESENT_AND_VERIFIED = 0x05;
/** May be, and is, kept elsewhere. */
const BACKED_UP = 0x18;
const HAS_CREDENTIAL = 0x40;

const encode = (value: string | Uint8Array): string => Buffer.from(value).toString('base64url');
const sha256 = (value: string | Uint8Array): Buffer => createHash('sha256').update(value).digest();

/** CBOR of what an attestation consists of. */
function cbor(value: number | string | Uint8Array | Map<number | string, unknown>): Buffer {
  const head = (major: number, length: number): Buffer => {
    const short = major << 5;
    if (length < 24) return Buffer.from([short | length]);
    if (length < 256) return Buffer.from([short | 24, length]);
    return Buffer.from([short | 25, length >> 8, length & 0xff]);
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const parts = [...value].flatMap(([key, each]) => [cbor(key), cbor(each as Parameters<typeof cbor>[0])]);
  return Buffer.concat([head(5, value.size), ...parts]);
}

export class Authenticator {
  readonly #id = randomBytes(20);
  readonly #private_key: KeyObject;
  readonly #public_key: Buffer;
  /** Zero for ever unless a test has it count. */
  counter = 0;
  user_handle = '';

  constructor(private readonly site: { origin: string; rp_id: string }) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#private_key = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const [left, right] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
    this.#public_key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, left],
        [-3, right],
      ]),
    );
  }

  /** What a browser answers to options for adding. */
  make(
    options: { challenge?: unknown; user?: unknown },
    wrong: Wrong & { fmt?: string; statement?: Map<string, unknown> } = {},
  ): Record<string, unknown> {
    const { user } = options;
    if (typeof user === 'object' && user !== null && 'id' in user) this.user_handle = String(user.id);
    const flags = (wrong.flags ?? PRESENT_AND_VERIFIED) | BACKED_UP | HAS_CREDENTIAL;
    const credential = [Buffer.alloc(16), Buffer.from([0, this.#id.length]), this.#id, this.#public_key];
    const data = Buffer.concat([this.#data({ ...wrong, flags }), ...credential]);
    const { fmt = 'none', statement = new Map() } = wrong;
    const attestation = cbor(
      new Map<string, unknown>([
        ['fmt', fmt],
        ['attStmt', statement],
        ['authData', data],
      ]),
    );
    return this.#answer({
      clientDataJSON: encode(this.#client('webauthn.create', options.challenge, wrong)),
      attestationObject: encode(attestation),
    });
  }

  /** What a browser answers to options for signing in. */
  sign(options: { challenge?: unknown }, wrong: Wrong = {}): Record<string, unknown> {
    const client = this.#client('webauthn.get', options.challenge, wrong);
    const data = this.#data({ ...wrong, flags: (wrong.flags ?? PRESENT_AND_VERIFIED) | BACKED_UP });
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#private_key);
    return this.#answer({
      clientDataJSON: encode(client),
      authenticatorData: encode(data),
      signature: encode(signature),
      userHandle: 'user_handle' in wrong ? wrong.user_handle : this.user_handle,
    });
  }

  #answer(response: Record<string, unknown>): Record<string, unknown> {
    const id = encode(this.#id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #client(type: string, challenge: unknown, wrong: Wrong): string {
    const { origin } = this.site;
    return JSON.stringify({ type, origin, crossOrigin: false, challenge, ...pick(wrong) });
  }

  #data({ rp_id = this.site.rp_id, flags = 0, counter = this.counter }: Wrong): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rp_id), Buffer.from([flags]), count]);
  }
}

function pick({ origin, type, challenge }: Wrong): Record<string, string> {
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(type === undefined ? {} : { type }),
    ...(challenge === undefined ? {} : { challenge }),
  };
}
