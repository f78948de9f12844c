/** An issuer of OpenID Connect on loopback, made with jose: honest unless a test says otherwise. */
import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { atEnd } from './cleanup.ts';

export const CLIENT = { id: 'satchel', secret: 'hush: a+secret' };

type Answer = Response | Promise<Response> | null;

export interface TestIssuer {
  url: string;
  /** Whom it takes everybody for who comes. */
  account: Record<string, unknown>;
  /** Over what it puts into ID tokens. */
  claims: Record<string, unknown>;
  /** Over what discovery says; undefined leaves a thing out. */
  metadata: Record<string, unknown>;
  /** What userinfo says. */
  userinfo: Record<string, unknown>;
  /** Which key signs; by its kid all of these are told, but `other`, which has the kid of the first. */
  signs_with: 'first' | 'second' | 'other';
  /** Keys that it tells of. */
  tells_keys: ('first' | 'second')[];
  /** Answers in its place, by path; null for it to go on. */
  inPlace: (path: string, request: Request) => Answer;
  /** Paths that it was asked for. */
  asked: string[];
  /** How the client last showed who it is. */
  shown: { authorization: string | null; client_secret: string | null } | null;
  /** Leads on as somebody who is signed in there: to the address of the way back. */
  approve(authorization_url: string): string;
  /** A token of its own, which any job of its may have. */
  sign(claims: JWTPayload): Promise<string>;
}

type Keys = Record<'first' | 'second' | 'other', CryptoKeyPair>;
let keys: Promise<Keys> | null = null;

async function makeKeys(): Promise<Keys> {
  const make = () => generateKeyPair('RS256', { extractable: true });
  return { first: await make(), second: await make(), other: await make() };
}

/** Stopped after the tests of the file. */
export async function startIssuer(host = '127.0.0.1'): Promise<TestIssuer> {
  keys ??= makeKeys();
  const pairs = await keys;
  const codes = new Map<string, { nonce: string; challenge: string; redirect_uri: string }>();
  const issuer: TestIssuer = {
    ...{ url: '', claims: {}, metadata: {}, userinfo: {}, signs_with: 'first', tells_keys: ['first'] },
    ...{ account: { sub: 'ann-1', email: 'ann@example.com', email_verified: true }, asked: [], shown: null },
    inPlace: () => null,
    approve(address) {
      const { searchParams: asked } = new URL(address);
      const code = crypto.randomUUID();
      const of = (name: string): string => asked.get(name) ?? '';
      codes.set(code, {
        nonce: of('nonce'),
        challenge: of('code_challenge'),
        redirect_uri: of('redirect_uri'),
      });
      return `${of('redirect_uri')}?code=${code}&state=${encodeURIComponent(of('state'))}`;
    },
    sign(claims) {
      const now_s = Math.floor(Date.now() / 1_000);
      const kid = issuer.signs_with === 'other' ? 'first' : issuer.signs_with;
      return new SignJWT({ iss: issuer.url, iat: now_s, exp: now_s + 300, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .sign(pairs[issuer.signs_with].privateKey);
    },
  };
  const answerToken = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(await request.text());
    const authorization = request.headers.get('authorization');
    issuer.shown = { authorization, client_secret: form.get('client_secret') };
    const basic = `Basic ${btoa(`${encodeURIComponent(CLIENT.id)}:${encodeURIComponent(CLIENT.secret).replaceAll('%20', '+')}`)}`;
    const methods = issuer.metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const takes_basic = Array.isArray(methods) && methods.includes('client_secret_basic');
    const is_client = takes_basic ? authorization === basic : form.get('client_secret') === CLIENT.secret;
    if (!is_client) return Response.json({ error: 'invalid_client' }, { status: 401 });
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || verifier !== code.challenge || code.redirect_uri !== form.get('redirect_uri'))
      return Response.json({ error: 'invalid_grant', error_description: 'no such code' }, { status: 400 });
    const id_token = await issuer.sign({
      ...{ aud: CLIENT.id, nonce: code.nonce },
      ...issuer.account,
      ...issuer.claims,
    });
    return Response.json({ access_token: 'at', token_type: 'Bearer', expires_in: 300, id_token });
  };
  const answer = async (path: string, request: Request): Promise<Response> => {
    if (path === '/.well-known/openid-configuration')
      return Response.json({
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        jwks_uri: `${issuer.url}/keys`,
        userinfo_endpoint: `${issuer.url}/userinfo`,
        ...issuer.metadata,
      });
    if (path === '/keys')
      return Response.json({
        keys: await Promise.all(
          issuer.tells_keys.map(async (kid) => ({
            ...(await exportJWK(pairs[kid].publicKey)),
            ...{ kid, alg: 'RS256', use: 'sig' },
          })),
        ),
      });
    if (path === '/token') return answerToken(request);
    if (path === '/userinfo') return Response.json(issuer.userinfo);
    // A page of its own, as real ones have: a browser that is led on at once keeps cookies that it would lose here.
    if (path === '/authorize')
      return new Response(
        `<a href="${issuer.approve(request.url).replaceAll('&', '&amp;')}">Go on as Ann</a>`,
        {
          headers: { 'Content-Type': 'text/html' },
        },
      );
    return new Response(null, { status: 404 });
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      issuer.asked.push(pathname);
      return (await issuer.inPlace(pathname, request)) ?? answer(pathname, request);
    },
  });
  issuer.url = `http://${host}:${server.port}`;
  atEnd(() => server.stop(true));
  return issuer;
}
