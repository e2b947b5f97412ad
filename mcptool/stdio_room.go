package mcptool

import "context"

// room is a client session as the doors see it.
type room interface {
	handle(ctx context.Context, m message, to stream)
	listen(s stream) (stop func())
	version() string
	leave()
}

var _ room = (*client)(nil)

// joins is how a door gets a client into a room.
type joins func(j joining) (room, error)

func (g *Gateway) admit(j joining) (room, error) {
	c, err := g.join(j)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// nowhere is where nothing can be sent: notifications and answers of a client
// are not answered.
type nowhere struct{}

func (nowhere) send(message) error { return errGone }
