package blobstore

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// newTransport bounds what can hang. It asks for no compression: a server that
// zipped an answer would change its length.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: s3DialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return idleConn{c}, nil
		},
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: s3Idle,
		ExpectContinueTimeout: 2 * time.Second,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       s3Idle / 2,
		DisableCompression:    true,
	}
}

// polite asks before it sends a large body, so that a server can answer that a
// condition does not hold without being sent what it will not keep. It also
// notes what the client does not pass on, see noteDate.
type polite struct{ *http.Transport }

func (p polite) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ContentLength >= s3ExpectFrom {
		r = r.Clone(r.Context())
		r.Header.Set("Expect", "100-continue")
	}
	resp, err := p.Transport.RoundTrip(r)
	if date, ok := r.Context().Value(dateKey{}).(*time.Time); ok && err == nil {
		*date, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	return resp, err
}

type dateKey struct{}

// noteDate makes requests with the context that it returns store the server's
// time in date: the answer to PUT says nothing else about when it wrote.
func noteDate(ctx context.Context, date *time.Time) context.Context {
	return context.WithValue(ctx, dateKey{}, date)
}

// An idleConn fails when nothing has moved for s3Idle. Writing extends the wait
// for the answer too: the transport reads all the while it sends.
type idleConn struct{ net.Conn }

func (c idleConn) Read(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(s3Idle))
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(s3Idle))
	return c.Conn.Write(p)
}
