/** Where an S3 store is: the form of SATCHEL_OBJECT_STORE and of a replica's place. */
import { isIP } from 'node:net';

/** Where keys are, without who may get at them. */
export interface S3Place {
  readonly bucket: string;
  /** What every key of ours begins with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Without a trailing slash. */
  readonly endpoint: string;
  /** Where clients reach the store: the endpoint unless said otherwise. */
  readonly public_endpoint: string;
  readonly region: string;
  /** Whether the bucket stands in the path of an address, and not in the name of its host. */
  readonly is_path_style: boolean;
}

export interface S3Settings extends S3Place {
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

const FORM = 's3://BUCKET[/PREFIX]?endpoint=URL[&region=R][&style=path][&public=URL]';
const PARAMETERS = ['endpoint', 'region', 'style', 'public'];
/** Common to every S3 server: RFC 1123 labels of 3 to 63 characters in all. */
const BUCKET = /^[a-z0-9](?:[a-z0-9-]|\.(?=[a-z0-9])){1,61}[a-z0-9]$/;
/** Characters that nobody encodes in two ways. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const MAX_PREFIX_CHARS = 512;

/** The place that a setting names; or what is wrong with it, to go behind the setting's name. */
export function readS3Place(text: string): S3Place | string {
  const [, location, query = ''] = /^s3:\/\/([^?#]*)(?:\?([^#]*))?$/.exec(text) ?? [];
  if (location === undefined) return `must be of the form ${FORM}`;
  const [bucket = '', ...segments] = location.replace(/\/+$/, '').split('/');
  if (!BUCKET.test(bucket))
    return 'must name a bucket of 3 to 63 lower-case letters, digits, dots and hyphens after s3://';
  if (segments.some((segment) => !SEGMENT.test(segment)) || segments.join('/').length > MAX_PREFIX_CHARS)
    return `must have a prefix of letters, digits, dots, hyphens and underscores between single slashes, of at most ${MAX_PREFIX_CHARS} characters`;
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  const unknown = names.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    return `has the unknown parameter ${JSON.stringify(unknown.slice(0, 64))}; there are ${PARAMETERS.join(', ')}`;
  if (new Set(names).size < names.length) return 'has a parameter twice';
  const endpoint = parameters.get('endpoint');
  if (endpoint === null) return `must say where the store is: ${FORM}`;
  const base = readBase(endpoint);
  const public_base = readBase(parameters.get('public') ?? endpoint);
  if (!base || !public_base)
    return `must give ${base ? 'public' : 'endpoint'} as an http or https address without user, query or fragment, percent-encoded, such as endpoint=https%3A%2F%2Fs3.example.com`;
  const style = parameters.get('style') ?? 'virtual';
  if (style !== 'path' && style !== 'virtual') return 'must have style=path, or none for bucket.host';
  const is_path_style = style === 'path';
  const host = base.hostname.replace(/^\[|\]$/g, '');
  if (!is_path_style && isIP(host) !== 0) return 'must have style=path, as its endpoint is an IP address';
  const region = parameters.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]{1,64}$/.test(region)) return 'must have a region such as eu-central-1';
  return {
    bucket,
    prefix: segments.map((segment) => `${segment}/`).join(''),
    endpoint: base.href.replace(/\/+$/, ''),
    public_endpoint: public_base.href.replace(/\/+$/, ''),
    region,
    is_path_style,
  };
}

function readBase(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.username || url.password || url.search || url.hash ? null : url;
}
