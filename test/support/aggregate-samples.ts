/** Reports about a domain, made by hand after RFC 7489's appendix C and what large receivers send. */
import { crc32, deflateRawSync } from 'node:zlib';

interface Row {
  ip?: string;
  count?: number;
  dkim?: string;
  spf?: string;
  disposition?: string;
  from?: string;
  selector?: string;
  /** Whose signature it has, if not that of `from`. */
  signer?: string;
  /** Where it bounces to. */
  bounces_to?: string;
}

export function row(of: Row = {}): string {
  const { ip = '192.0.2.1', count = 7, dkim = 'pass', spf = 'fail', disposition = 'none' } = of;
  const { from = 'shop.example.com', selector = 'satchel', signer = from, bounces_to = from } = of;
  return `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row><identifiers><header_from>${from}</header_from></identifiers><auth_results><dkim><domain>${signer}</domain><selector>${selector}</selector><result>${signer === from ? dkim : 'pass'}</result></dkim><spf><domain>${bounces_to}</domain><result>pass</result></spf></auth_results></record>`;
}

export function dmarc({
  rows = [row()],
  id = '1234',
  end = '2026-11-26T23:59:59Z',
  org = 'google.com',
} = {}): string {
  const end_s = Date.parse(end) / 1_000;
  return `<?xml version="1.0" encoding="UTF-8" ?>\n<feedback><report_metadata><org_name>${org}</org_name><email>noreply@google.com</email><report_id>${id}</report_id><date_range><begin>${end_s - 86_399}</begin><end>${end_s}</end></date_range></report_metadata><policy_published><domain>shop.example.com</domain><adkim>r</adkim><p>none</p><pct>100</pct></policy_published>${rows.join('\n')}</feedback>\n`;
}

/** A message with an attachment: that alone, or beside words for people. */
export function message(of: { type: string; content: Buffer; beside?: string }): string {
  const { type, content, beside } = of;
  const base64 = content.toString('base64').replace(/.{76}/g, '$&\r\n');
  const part = `Content-Type: ${type}; name="google.com!shop.example.com!1!2.zip"\r\nContent-Disposition: attachment; filename="google.com!shop.example.com!1!2.zip"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`;
  const head =
    'From: noreply-dmarc-support@google.com\r\nSubject: Report domain: shop.example.com Submitter: google.com Report-ID: 1234\r\nMIME-Version: 1.0\r\n';
  if (beside === undefined) return head + part;
  return `${head}Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: ${beside}\r\n\r\nThis is an aggregate report.\r\n--x\r\n${part}--x--\r\n`;
}

/** A zip of files, as APPNOTE has it. */
export function zip(files: readonly (string | Buffer)[], { is_stored = false } = {}): Buffer {
  const [local, central]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [n, text] of files.entries()) {
    const [plain, name] = [Buffer.from(text as string), Buffer.from(`${n}.xml`)];
    const packed = is_stored ? plain : deflateRawSync(plain);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(is_stored ? 0 : 8, 4);
    shared.writeUInt32LE(crc32(plain), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(plain.length, 18);
    shared.writeUInt16LE(name.length, 22);
    local.push(Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, rest, name);
    at += 4 + 26 + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...local, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
